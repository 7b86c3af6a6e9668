package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"jp/gitcmd"
)

// Targets of commands that look at processes.
const (
	attachTarget = 0.050 // seconds, from the start to the first byte
	listTarget   = 2     // of the time that the same list takes without processes
)

// listedProcesses is how many there are in the row of jp ls.
const listedProcesses = 100

// attachOf measures a whole jp attach up to the first byte that it shows of a
// turn with n events behind it.
func attachOf(n int) func(context.Context, *bench, filesystem) ([]row, error) {
	return func(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
		var sides []side
		for _, events := range []int{shortEvents, n} { // the longest script is left for all
			s, err := b.newStopped(ctx, events)
			if err != nil {
				return nil, err
			}
			defer s.end(ctx)
			if err := s.goOn(ctx); err != nil {
				return nil, err
			}
			sides = append(sides, side{name: grouped(events), block: 3, run: s.attach})
		}
		all, err := rounds(ctx, b.rng, b.processes, sides)
		if err != nil {
			return nil, err
		}
		r := all.row(fmt.Sprintf("jp attach at %s events, 1st byte", grouped(n)), grouped(n), grouped(shortEvents)).within(attachTarget)
		r.RivalName, r.Alone = "at 100 events", true
		return []row{r}, nil
	}
}

// goOn lets a process in the background go on with the turn.
func (s *stopped) goOn(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, s.jp, "continue", "--detach", string(s.id))
	return drained(cmd, s.repo.TopLevel)
}

// end ends the process, also after an interrupted run.
func (s *stopped) end(ctx context.Context) { endAll(ctx, s.jp, s.repo) }

func endAll(ctx context.Context, jp string, repo gitcmd.Repository) {
	_ = drained(exec.CommandContext(context.WithoutCancel(ctx), jp, "kill", "--all"), repo.TopLevel) // else the table says so
}

// attach waits for the first byte, and ends the client.
func (s *stopped) attach(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, s.jp, "attach", string(s.id))
	cmd.Dir = s.repo.TopLevel
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = out.Read(make([]byte, 1))
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()         // it was killed
	if err != nil {
		return fmt.Errorf("jp attach showed nothing: %w", err)
	}
	return nil
}

// asking is a reply of a model that needs a permission.
const asking = `[[reply]]
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
`

// listRunning measures jp ls with a waiting process for every conversation, against the same in a copy of
// the repository and an empty registry.
func listRunning(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
	jp, err := b.buildJP(ctx)
	if err != nil {
		return nil, err
	}
	repo, err := b.newRepo(ctx, b.scratch)
	if err != nil {
		return nil, err
	}
	defer endAll(ctx, jp, repo)
	if err := b.fillRunning(ctx, jp, repo); err != nil {
		return nil, err
	}
	copied, err := b.newDir(b.scratch)
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(filepath.Join(copied, ".git"), os.DirFS(repo.CommonDir)); err != nil {
		return nil, err
	}
	all, err := rounds(ctx, b.rng, b.processes, []side{
		{name: "with", block: 3, run: func(ctx context.Context) error {
			return listIn(ctx, jp, repo.TopLevel, os.Getenv("XDG_DATA_HOME"), listedProcesses)
		}},
		{name: "without", block: 3, run: func(ctx context.Context) error { return listIn(ctx, jp, copied, copied, 0) }},
	})
	if err != nil {
		return nil, err
	}
	r := all.row(fmt.Sprintf("jp ls with %d processes", listedProcesses), "with", "without").within(listTarget)
	r.RivalName = "without them"
	return []row{r}, nil
}

// fillRunning starts the processes, and waits until all wait.
func (b *bench) fillRunning(ctx context.Context, jp string, repo gitcmd.Repository) error {
	script := filepath.Join(b.scratch, "asking.toml")
	if err := errors.Join(os.WriteFile(script, []byte(asking), 0o600), keepStoreKey()); err != nil {
		return err
	}
	wait := []string{"attach", "--wait", "-q", "--for", "input"}
	for i := range listedProcesses {
		cmd := exec.CommandContext(ctx, jp, "query", "--detach", "--new", "--json", "-m", "script/"+script, fmt.Sprintf("Request %d", i))
		cmd.Dir = repo.TopLevel
		cmd.Env = append(os.Environ(), "JP_CFG_STORE__PACKING=off") // the repository is copied while they run
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("jp query --detach: %w", err)
		}
		var started struct{ Conversation string }
		if err := json.Unmarshal(out, &started); err != nil {
			return err
		}
		wait = append(wait, started.Conversation)
	}
	cmd := exec.CommandContext(ctx, jp, wait...)
	cmd.Dir = repo.TopLevel
	var ended *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &ended) || ended.ExitCode() != 3 {
		return fmt.Errorf("jp attach --wait: %v, and not that all ask", err)
	}
	return nil
}

// listIn lists the conversations of a repository, and counts those that are run
// as the registry below a folder for data tells.
func listIn(ctx context.Context, jp, dir, data string, running int) error {
	cmd := exec.CommandContext(ctx, jp, "ls", "--json")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_DATA_HOME="+data)
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("jp ls: %w", err)
	}
	var list []struct{ Status struct{ PID *int } }
	if err := json.Unmarshal(out, &list); err != nil {
		return err
	}
	found := 0
	for _, l := range list {
		if l.Status.PID != nil {
			found++
		}
	}
	if len(list) != listedProcesses || found != running {
		return fmt.Errorf("jp ls: %d conversations, %d of them run", len(list), found)
	}
	return nil
}
