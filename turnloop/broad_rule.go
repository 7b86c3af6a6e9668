package turnloop

import (
	"path"
	"slices"
	"strings"

	"jp/internal/lazy"
)

// BroadRule returns the program whose arguments may name any other program under a rule: a
// wrapper, an interpreter or a runner, and the rule ends before the inner program. It is "" for
// other rules.
func BroadRule(rule []string) string {
	if n := len(rule); n > 1 && startingOption().MatchString(rule[n-1]) {
		return rule[0]
	}
	for len(rule) > 0 {
		name := programName(rule[0])
		if slices.Contains(startsAnywhere, name) || startsBehind(name, rule[len(rule)-1]) {
			return rule[0]
		}
		if p, is := starters[name]; is {
			rest, ended := p.operands(rule[1:])
			if ended {
				return rule[0]
			}
			rule = rest
			continue
		}
		if i, is := interpreters[name]; is {
			if rest := i.afterOptions(rule[1:]); len(rest) == 0 || rest[0] == "-" || i.stdin != "" && slices.Contains(rule, i.stdin) {
				return rule[0]
			}
			return ""
		}
		if runner, is := runners[name]; is {
			rest, ended := runner.program(rule[1:])
			if ended {
				return rule[0]
			}
			rule = rest
			continue
		}
		return ""
	}
	return ""
}

var version = lazy.Regexp(`^([a-z_]+?)(?:\.(?:basic|tiny|nox|athena|gtk)|-(?:nox|gtk|x))?(?:[-.]?v?[0-9][0-9.]*[a-z]{0,2}(?:[-.][a-z0-9_-]+)*)?[-.]?$`)

// programName is the name of a program without its folder, version and variant: python for
// /usr/bin/python3.11-dbg, vim for vim.basic.
func programName(word string) string {
	name := strings.TrimSuffix(path.Base(word), ".exe")
	if m := version().FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}

// startsAnywhere are programs that start others by an option, a command or an operand in any place.
var startsAnywhere = []string{
	"find", "fd", "fdfind", "parallel", "su", "eval", "nix-shell", "script", "at", "batch", "socat", "concurrently",
	"vi", "vim", "nvim", "view", "vimdiff", "rvim", "ex", "ed", "red", "emacs", "emacsclient", "gdb", "gdb-multiarch", "lldb",
	"psql", "mysql", "mariadb", "sqlite", "mongosh", "screen", "gnuplot", "expect", "ansible",
}

// startingOption is an option whose value is a program, of many that start others now and then.
var startingOption = lazy.Regexp(`^--?(?:[a-z]+-)*(?:exec|toolexec|command|cmd|rsh|extcmd|filter|compress-program)$`)

// startingOptions are such options of single programs. A letter may also end a group of letters.
var startingOptions = map[string]string{
	"rg": "--pre", "rsync": "-e --rsync-path", "scp": "-S", "sftp": "-S", "git": "-x --upload-pack --receive-pack -O --open-files-in-pager",
	"tar": "--checkpoint-action -I -F --info-script --new-volume-script", "bsdtar": "--use-compress-program", "zip": "-TT --unzip-command",
	"make": "-f --file --makefile --eval -E", "gmake": "-f --file --makefile --eval -E", "just": "-f --justfile --shell -c",
	"nc": "-e -c", "ncat": "-e -c --sh-exec", "curl": "-K --config", "cargo": "--config", "cmake": "-P -E", "tcc": "-run",
}

// startsBehind reports whether the value of an option, the last word of a rule, is a program.
func startsBehind(name, last string) bool {
	for _, option := range strings.Fields(startingOptions[name]) {
		letter := len(option) == 2 && last != "" && last[0] == '-' && !strings.HasPrefix(last, "--") && strings.HasSuffix(last, option[1:])
		if last == option || letter {
			return true
		}
	}
	return false
}

// starters run the program behind their options and operands.
var starters = map[string]commandForm{
	"env": {valued: "-u -C -S --unset --chdir --split-string"}, "nice": {}, "nohup": {}, "setsid": {}, "time": {valued: "-f -o"}, "gtime": {valued: "-f -o"},
	"timeout": {valued: "-s -k --signal --kill-after", fixed: 1}, "gtimeout": {valued: "-s -k", fixed: 1}, "stdbuf": {valued: "-i -o -e"},
	"xargs": {valued: "-I -i -d -a -E -L -P -n -s --delimiter --arg-file --replace"}, "gxargs": {valued: "-I -d -a -E"},
	"sudo": {valued: "-u -g -h -p -C -r -t -T -U -D -R --user --group --chdir"}, "doas": {valued: "-u -C"}, "pkexec": {valued: "--user"}, "runuser": {valued: "-u -g -G"},
	"ionice": {valued: "-c -n"}, "chrt": {valued: "-T -P -D", fixed: 1}, "taskset": {fixed: 1}, "numactl": {valued: "-N -m -C"}, "prlimit": {}, "setpriv": {valued: "--reuid --regid --groups"},
	"busybox": {}, "toybox": {}, "exec": {valued: "-a"}, "command": {}, "builtin": {}, "watch": {}, "chronic": {}, "unbuffer": {}, "caffeinate": {valued: "-t -w"},
	"strace": {valued: "-e -o -p -s -u -E -P"}, "ltrace": {valued: "-e -o -u"}, "valgrind": {}, "hyperfine": {}, "rr": {}, "catchsegv": {},
	"flock": {valued: "-w -E", fixed: 1}, "chroot": {fixed: 1}, "unshare": {}, "nsenter": {valued: "-t"}, "faketime": {fixed: 1}, "setarch": {fixed: 1}, "linux": {},
	"systemd-run": {valued: "-p -E -u --unit --property"}, "fakeroot": {}, "firejail": {}, "bwrap": {}, "tini": {}, "dumb-init": {}, "dbus-run-session": {}, "xvfb-run": {},
	"ssh": {valued: "-p -i -o -l -F -J -L -R -D -W -b -c -E -e -I -m -O -Q -S -w", fixed: 1}, "mosh": {fixed: 1}, "entr": {}, "wine": {}, "watchexec": {valued: "-e -w -i"}, "dotenv": {valued: "-f"},
	"direnv": {fixed: 2}, "mise": {fixed: 1}, "asdf": {fixed: 1}, "npx": {valued: "-p -c --package"}, "pnpx": {valued: "-p"}, "bunx": {}, "uvx": {valued: "-p --from --with --python"},
	"nodemon": {valued: "--exec -x -w"}, "cross-env": {}, "env-cmd": {valued: "-f -e"}, "dotenvx": {fixed: 1, valued: "-f -e"}, "retry": {valued: "-t -d"}, "sshpass": {valued: "-p -f"}, "autossh": {valued: "-M", fixed: 1},
	"cgexec": {valued: "-g"}, "systemd-inhibit": {}, "systemd-nspawn": {valued: "-D -M"}, "proot": {valued: "-r -b -w"}, "torsocks": {}, "proxychains": {valued: "-f"}, "start-stop-daemon": {},
	"run-parts": {}, "cpulimit": {valued: "-l"}, "eatmydata": {}, "softlimit": {valued: "-m"}, "runcon": {fixed: 1}, "capsh": {}, "sg": {fixed: 1}, "newgrp": {}, "wsl": {valued: "-d -u"},
}

// A commandForm describes the words between a program and the one that it starts.
type commandForm struct {
	valued string // options whose value is the next word
	fixed  int    // operands
}

// operands passes over options, assignments, numbers and operands. ended says that the
// words end with these.
func (p commandForm) operands(words []string) (rest []string, ended bool) {
	for fixed := p.fixed; ; {
		words = interpreter{valued: p.valued}.afterOptions(words)
		switch {
		case len(words) == 0:
			return nil, true
		case assignment().MatchString(words[0]):
		case fixed > 0:
			fixed--
		case quantity().MatchString(words[0]): // of an option that is not known
		default:
			return words, false
		}
		words = words[1:]
	}
}

var (
	assignment = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*=`)
	quantity   = lazy.Regexp(`^[0-9.,:-]+[a-zA-Z]?$`)
)

// interpreters run the text or the file that stands behind their options.
var interpreters = map[string]interpreter{
	"sh": shell, "bash": shell, "dash": shell, "ash": shell, "ksh": shell, "zsh": shell, "fish": shell, "busybox-sh": shell,
	"python": {valued: "-W -X"}, "pypy": {valued: "-W -X"}, "ipython": {}, "node": {valued: "-r --require --import --loader"}, "nodejs": {valued: "-r --require"},
	"tsx": {}, "ts-node": {valued: "-P -r"}, "ruby": {valued: "-r -I -C"}, "perl": {valued: "-I"}, "php": {valued: "-d -c"}, "lua": {valued: "-l"},
	"luajit": {}, "awk": {valued: "-F -v"}, "gawk": {valued: "-F -v"}, "mawk": {valued: "-F -v"}, "sed": {}, "gsed": {}, "tclsh": {}, "osascript": {valued: "-l"},
	"pwsh": {}, "powershell": {}, "java": {valued: "-cp -classpath --class-path -p --module-path"}, "Rscript": {}, "julia": {}, "elixir": {}, "groovy": {}, "jshell": {},
	"csh": shell, "tcsh": shell, "nu": {}, "xonsh": {}, "elvish": {}, "erl": {}, "iex": {}, "ghci": {}, "runghc": {}, "ocaml": {}, "swift": {}, "scala": {}, "kotlin": {}, "clojure": {}, "racket": {}, "guile": {}, "octave": {}, "R": {},
	"m4": {}, "zx": {}, "babel-node": {}, "vite-node": {}, "jiti": {}, "bpftrace": {}, "dc": {},
}

var shell = interpreter{valued: "-o -O +o +O --rcfile --init-file", stdin: "-s"}

// An interpreter takes options before its program.
type interpreter struct {
	valued string // options whose value is the next word
	stdin  string // option by which it reads the program from its input
}

// afterOptions are the words from the first one that is neither an option nor the value of one.
func (i interpreter) afterOptions(words []string) []string {
	valued := strings.Fields(i.valued)
	for len(words) > 0 && len(words[0]) > 1 && (words[0][0] == '-' || words[0][0] == '+') {
		if slices.Contains(valued, words[0]) && len(words) > 1 {
			words = words[1:]
		}
		words = words[1:]
	}
	return words
}

// runners start other programs by some of their commands, each with the number of operands
// before the program.
var runners = map[string]runner{
	"uv":  {commands: map[string]int{"run": 0, "tool run": 0}, valued: "--project --directory -p --python --with --with-editable --with-requirements --extra --group --env-file --from --package"},
	"npm": {commands: map[string]int{"exec": 0, "x": 0}, valued: "-w --workspace --prefix -C -p --package -c --call"}, "pnpm": {commands: map[string]int{"exec": 0, "dlx": 0}, valued: "-C --dir --filter -F"},
	"yarn": {commands: map[string]int{"exec": 0, "dlx": 0}, valued: "--cwd"}, "bun": {commands: map[string]int{"x": 0, "run": 0}}, "deno": {commands: map[string]int{"run": 0, "eval": 0, "repl": 0, "serve": 0}},
	"rustup": {commands: map[string]int{"run": 1}}, "flatpak": {commands: map[string]int{"run": 0}}, "corepack": {commands: map[string]int{"npm": 0, "pnpm": 0, "yarn": 0}}, "pipx": {commands: map[string]int{"run": 0}, valued: "--spec"},
	"poetry": {commands: map[string]int{"run": 0}, valued: "-C -P"}, "pipenv": {commands: map[string]int{"run": 0}}, "hatch": {commands: map[string]int{"run": 0}, valued: "-e"},
	"pdm": {commands: map[string]int{"run": 0}, valued: "-p"}, "rye": {commands: map[string]int{"run": 0}}, "conda": {commands: map[string]int{"run": 0}, valued: "-n -p"}, "bundle": {commands: map[string]int{"exec": 0}},
	"go": {commands: map[string]int{"run": 0}, valued: "-C -exec -tags -ldflags -gcflags -mod -p"}, "nix": {commands: map[string]int{"run": 0, "shell": 1, "develop": 1}}, "dotnet": {commands: map[string]int{"exec": 0}},
	"docker": containers, "podman": containers, "nerdctl": containers, "docker-compose": {commands: map[string]int{"run": 1, "exec": 1}, valued: containers.valued},
	"kubectl": {commands: map[string]int{"exec": 1, "run": 1, "debug": 1}, valued: "-n --namespace -c --container --context --image"}, "vagrant": {commands: map[string]int{"ssh": 1}},
	"coverage": {commands: map[string]int{"run": 0}, valued: "--rcfile --source --data-file --omit --include"}, "perf": {commands: map[string]int{"record": 0, "stat": 0, "trace": 0}, valued: "-e -o -F"},
	"tmux":  {commands: map[string]int{"new": 0, "new-session": 0, "neww": 0, "new-window": 0, "splitw": 0, "split-window": 0, "run": 0, "run-shell": 0, "if": 0, "if-shell": 0, "respawn-pane": 0, "respawn-window": 0, "popup": 0, "display-popup": 0, "send": 0, "send-keys": 0}, valued: "-s -n -t -c -L -S -f -x -y -F -e"},
	"cargo": {commands: map[string]int{"watch": 0, "script": 0}, valued: "-C --color --config -Z"}, "lerna": {commands: map[string]int{"exec": 0}}, "nx": {commands: map[string]int{"exec": 0}}, "volta": {commands: map[string]int{"run": 0}}, "fnm": {commands: map[string]int{"exec": 0}, valued: "--using"},
	"nvm": {commands: map[string]int{"exec": 1, "run": 1}}, "pyenv": {commands: map[string]int{"exec": 0}}, "rbenv": {commands: map[string]int{"exec": 0}}, "opam": {commands: map[string]int{"exec": 0}}, "stack": {commands: map[string]int{"exec": 0, "runghc": 0}}, "cabal": {commands: map[string]int{"exec": 0}},
	"mix": {commands: map[string]int{"run": 0, "cmd": 0}}, "dart": {commands: map[string]int{"run": 0}}, "guix": {commands: map[string]int{"shell": 0}}, "op": {commands: map[string]int{"run": 0}}, "doppler": {commands: map[string]int{"run": 0}}, "aws-vault": {commands: map[string]int{"exec": 1}},
	"incus": {commands: map[string]int{"exec": 1}}, "lxc": {commands: map[string]int{"exec": 1}}, "machinectl": {commands: map[string]int{"shell": 1}}, "multipass": {commands: map[string]int{"exec": 1}}, "toolbox": {commands: map[string]int{"run": 0}, valued: "-c"}, "distrobox": {commands: map[string]int{"enter": 1}},
	"apptainer": {commands: map[string]int{"exec": 1}}, "singularity": {commands: map[string]int{"exec": 1}}, "oc": {commands: map[string]int{"exec": 1}, valued: "-n -c"}, "devcontainer": {commands: map[string]int{"exec": 0}, valued: "--workspace-folder"}, "sops": {commands: map[string]int{"exec-env": 1, "exec-file": 1}},
	"git": {commands: map[string]int{"bisect run": 0, "submodule foreach": 0, "filter-branch": 0}, valued: "-c -C --git-dir --work-tree --exec-path --namespace"},
}

var containers = runner{
	commands: map[string]int{"run": 1, "exec": 1, "create": 1, "container run": 1, "container exec": 1, "compose run": 1, "compose exec": 1},
	valued:   "-v -e -w -u -p -l -h -m -f -H --name --network --mount --entrypoint --env --env-file --user --volume --workdir --platform --host --context --publish --label",
}

// A runner is a program of which some commands start others.
type runner struct {
	commands map[string]int // with the number of operands before the program
	valued   string         // options whose value is the next word
}

// program returns the command that these words start. ended reports that the words end before it. Behind
// another command they start nothing else.
func (r runner) program(words []string) (rest []string, ended bool) {
	command := ""
	for {
		behind := interpreter{valued: r.valued}.afterOptions(words)
		if len(behind) == 0 {
			return nil, true // the next word may be such a command
		}
		command = strings.TrimSpace(command + " " + behind[0])
		words = behind[1:]
		if fixed, is := r.commands[command]; is {
			return commandForm{valued: r.valued, fixed: fixed}.operands(words)
		}
		if !r.begins(command) {
			return nil, false
		}
	}
}

// begins reports whether these words are the first of such a command.
func (r runner) begins(command string) bool {
	for name := range r.commands {
		if strings.HasPrefix(name, command+" ") {
			return true
		}
	}
	return false
}
