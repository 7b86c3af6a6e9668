package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// A machine is the place and time of a run.
type machine struct {
	Date   string `json:"date"` // of its beginning, in UTC
	System string `json:"system"`
	Kernel string `json:"kernel"`
	CPU    string `json:"cpu"`
	CPUs   int    `json:"cpus"`
	Go     string `json:"go"`
	Git    string `json:"git"`
	Root   bool   `json:"root"`
}

func describeMachine(ctx context.Context) machine {
	return machine{
		Date:   time.Now().UTC().Format("2006-01-02 15:04"),
		System: runtime.GOOS + "/" + runtime.GOARCH,
		Kernel: said(ctx, "uname", "-r"),
		CPU:    processor(),
		CPUs:   runtime.NumCPU(),
		Go:     runtime.Version(),
		Git:    strings.TrimPrefix(said(ctx, "git", "version"), "git version "),
		Root:   os.Geteuid() == 0,
	}
}

func (m machine) String() string {
	user := "not root"
	if m.Root {
		user = "root"
	}
	return fmt.Sprintf("%s UTC, %s %s, %d × %s, %s, git %s, as %s", m.Date, m.System, m.Kernel, m.CPUs, m.CPU, m.Go, m.Git, user)
}

// said is a program's output, "?" if there is none.
func said(ctx context.Context, name string, args ...string) string {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return "?"
	}
	return strings.TrimSpace(string(out))
}

// processor is the name of the first one, if the system has a list of them.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "CPU"
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "CPU"
}
