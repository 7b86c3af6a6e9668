package sandbox_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

	"jp/sandbox"
)

// actVariable makes this test binary do one thing, as a program that is confined.
const actVariable = "SANDBOX_TEST_ACT"

func TestMain(m *testing.M) {
	if code, asked := sandbox.RunChild(os.Args); asked {
		os.Exit(code)
	}
	if act := os.Getenv(actVariable); act != "" {
		if err := acts()[act](os.Args[1]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// acts are things that a program may try, each with one argument.
func acts() map[string]func(string) error {
	all := map[string]func(string) error{
		"signal itself": func(string) error {
			came := make(chan os.Signal, 1)
			signal.Notify(came, syscall.SIGUSR1)
			err := syscall.Kill(os.Getpid(), syscall.SIGUSR1)
			if err == nil {
				<-came
			}
			return err
		},
		"nest": nest,
		"confined": func(hidden string) error {
			fmt.Println(sandbox.Confined(hidden))
			return nil
		},
	}
	maps.Copy(all, networks())
	for _, acts := range []map[string]func(int) error{onProcess(), itself(), keyrings(), objects(), {"leave objects": leaveObjects}} {
		for name, act := range acts {
			all[name] = func(argument string) error {
				pid, err := strconv.Atoi(argument)
				if err != nil {
					return err
				}
				return act(pid)
			}
		}
	}
	return all
}

// nest starts itself behind one wall more, as often as it is told.
func nest(times string) error {
	left, err := strconv.Atoi(times)
	if err != nil || left == 0 {
		return errors.Join(err, os.WriteFile("made", nil, 0o644))
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	start, err := sandbox.Prepare(sandbox.Rules{Writable: []string{dir}}, []string{os.Args[0], strconv.Itoa(left - 1)}, dir)
	if err != nil {
		return err
	}
	defer start.Close()
	cmd := exec.Command(start.Argv[0], start.Argv[1:]...)
	if start.Path != "" {
		cmd.Path = start.Path
	}
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles, cmd.SysProcAttr = os.Stdout, os.Stdout, start.Files, start.Attr
	return cmd.Run()
}
