package turnloop_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/turnloop"
)

// A rule that ends before the program of a wrapper allows all programs.
func TestBroadRule(t *testing.T) {
	for _, rule := range []string{
		"timeout", "timeout 60", "timeout -s KILL 60", "timeout --signal=KILL 1m", "timeout -k 5 60 env", "/usr/bin/timeout 5", "env", "env CI=1", "env -i A=b C=d", "env -u HOME",
		"env -S", "nice", "nice -n 5", "nice -10", "nohup", "stdbuf -oL", "stdbuf -o L", "xargs", "xargs -0 -n 1", "xargs -I {}", "sudo", "sudo -u root", "sudo -E A=1", "doas -u x",
		"time", "ionice -c 3", "ionice -c3 -n 7", "chrt 5", "taskset 0x1", "taskset -c 0-3", "setsid", "busybox", "flock /tmp/l", "chroot /x", "strace -f -o out", "watch -n 1",
		"python", "python3 -c", "python3.11 -c", "python3.12 -m", "/opt/bin/python3.13 -I", "python -W ignore -c", "python3 -", "node -e", "node --require x", "nodejs", "ruby -e", "perl -ne", "perl5.36 -e",
		"sh", "sh -c", "bash -lc", "bash -o pipefail -c", "bash -s", "bash -s x", "zsh -e", "fish -c", "awk", "awk -F :", "sed -n", "php8.2 -r", "java -cp x", "deno", "lua5.4",
		"env sh -c", "timeout 5 sh -c", "nice -n 5 python3 -m", "sudo env A=b bash", "busybox sh -c", "busybox sh",
		"uv", "uv run", "uv run --with x", "uv run python -c", "uv tool run", "uvx", "npx", "npx -y", "npx --package x", "npm exec", "npm exec --", "pnpm dlx", "yarn dlx", "bunx", "poetry run", "bundle exec", "pipx run",
		"go run", "go -C x run", "docker", "docker run", "docker run --rm", "docker run --rm -v /:/x alpine", "docker exec", "docker exec -it c", "docker exec c sh -c", "docker compose", "docker compose run web", "podman run x",
		"kubectl exec pod", "kubectl -n x exec pod --", "ssh", "ssh host", "ssh -p 22 host", "ssh host sh -c", "ssh -o A=b", "find", "find .", "find . -name x -exec", "fd x", "parallel", "su", "git", "git -c", "git -C x", "git bisect run", "git submodule foreach",
		"bun x", "bun run", "deno run", "deno run -A", "deno eval", "nix-shell --run", "script -qc", "wine", "rustup run stable", "flatpak run", "git rebase --exec", "go test -exec", "go build -toolexec", "tar xf a --to-command", "rsync --rsh",
		"coverage run", "coverage run -m", "emacs --batch", "emacs-nox -Q --eval", "emacs29 --batch -l x.el", "vim -c", "vim.basic -es", "nvim --headless", "ex", "ed", "ed a.txt", "rg --pre", "rsync -e", "rsync -ave", "timeout 5 rsync -e", "git rebase -x", "git rebase -ix", "git rebase HEAD~2 -x",
		"git fetch --upload-pack", "git difftool --extcmd", "git grep -O", "git filter-branch", "tmux", "tmux new", "tmux new-session -d -s x", "tmux -L s new -d", "tmux send-keys", "screen", "screen -dmS x", "psql", "psql -c", "psql -d x", "psql db", "sqlite3", "sqlite3 a.db", "mysql -e", "go run",
		"make -f", "make --eval", "tar -x --to-command", "tar --checkpoint-action", "tar -xI", "tar cf a --use-compress-program", "split --filter", "sort --compress-program", "zip -TT", "perl -E", "deno", "nix-shell", "nix run", "systemd-run --user", "systemd-run -p A=b", "ltrace -e x", "gdb -ex", "gdb --batch",
		"gdb a.out -ex", "entr -r", "runuser -u x", "unshare -r", "nsenter -t 1", "command", "exec -a x", "cross-env A=b", "cargo watch", "cargo", "socat", "nc -e", "perf stat -e cycles", "pyenv exec", "at now", "cmake -E", "csh -c",
		"python3.13t -c", "python3.11-dbg", "python3.12d -c", "pypy3.10-c -c", "perl5.36-x86_64-linux-gnu -e", "php8.2-cgi -r", "guile-3.0", "node-v20 -e", "gawk-5.1.0", "bash5", "timeout.exe 5",
	} {
		require.NotEmpty(t, turnloop.BroadRule(strings.Fields(rule)), rule)
	}
	for _, rule := range []string{
		"go test", "go test ./...", "make test", "npm test", "npm run build", "cargo test", "pytest", "ls -l", "./test.sh", "git status", "git -C x status", "git bisect start",
		"timeout 60 make", "timeout -k 5 60 go test", "env CI=1 npm test", "nice -n 5 make", "xargs -0 touch", "sudo -u postgres pg_dump", "taskset -c 0 make", "stdbuf -oL tail",
		"python3 test.py", "python3.11 -m pytest", "python -W ignore x.py", "sh test.sh", "sh -c x", "bash -lc x", "node build.js", "awk x", "sed s/a/b/", "java -jar x.jar",
		"uv run pytest", "npx eslint", "npx -y eslint", "uvx ruff", "poetry run pytest", "go run ./cmd/x", "docker ps", "docker compose up", "docker run --rm alpine ls", "kubectl get pods", "ssh host uptime",
		"bun test", "bun run build", "deno test", "deno run main.ts", "rustup run stable cargo build", "rustup show", "npm run", "tar xf a", "git rebase", "npm test --dry-run", "make --dry-run x", "make", "make -C x", "make -j 4 all", "cargo run", "cargo build --release", "coverage report", "tmux ls", "rg x", "rsync -a", "rsync -av a b", "tar -xf", "git rebase -i", "git log -n", "base64", "md5sum", "ssh-add -l", "git-lfs ls-files", "docker-compose up",
		"busybox ls", "python2to3 x", "2to3 x",
	} {
		require.Empty(t, turnloop.BroadRule(strings.Fields(rule)), rule)
	}
	require.Empty(t, turnloop.BroadRule(nil))
}
