# jp: what can be done here. `make` alone prints the targets.

GO       ?= go
FUZZTIME ?= 10s
FUZZ     ?=
BENCH    ?=
PEERS    ?=
SOAK     ?=
SEEDS    ?= 100000
HOSTILE  ?=
FLIPS    ?=
CRASH    ?=
KILLS    ?= 100
BIN      := bin/jp

# jp is built, and tested, without C. The race detector needs it: make test CGO_ENABLED=1 GOFLAGS=-race
export CGO_ENABLED ?= 0

# proof builds a program of the proof module and runs it in this folder.
proof = $(GO) build -C proof -o ../bin/proof/$(1) ./$(1) && bin/proof/$(1)

.PHONY: release help build test check lint crash crash-tools fuzz bench bench-tools bench-peers soak seeded histories hostile programs flips validator inspector editors peers shells chromium acpkill recordkill models screens demo install

help: ## print the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s  %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/jp
	@mkdir -p bin
	@echo "Building jp. The first build compiles all that it uses, which takes minutes."
	$(GO) build -o $(BIN) ./cmd/jp

test: ## run all tests
	GO="$(GO)" proof/ci/test
	$(GO) test -C proof ./...
	$(GO) test -C tools ./models

check: lint test ## lint and tests: what CI runs first

lint: ## format, vet, staticcheck, known vulnerabilities, and the types for macOS
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -C proof ./...
	$(GO) tool -modfile=tools/go.mod staticcheck ./...
	cd proof && $(GO) tool -modfile=../tools/go.mod staticcheck ./...
	cd tools && $(GO) run ./types darwin/arm64
	@if curl -fsS -m 10 -o /dev/null https://vuln.go.dev/index/db.json 2>/dev/null; then $(GO) tool -modfile=tools/go.mod govulncheck ./...; \
	else echo "Go's database of vulnerabilities is out of reach. Known vulnerabilities were not checked."; fi

crash: build crash-tools ## faults, kills, power cuts, enumerated: a table; none may break a promise (CRASH='-only a,c' etc.)
	$(call proof,crash) $(CRASH)

crash-tools:
	@tools/install 'power cuts on those file systems are' mkfs.ext4=e2fsprogs mkfs.xfs=xfsprogs mkfs.btrfs=btrfs-progs

fuzz: ## every fuzz target for FUZZTIME, 10s or 2000x: one table (FUZZ='-run gitstore' etc.)
	proof/fuzz/run -time $(FUZZTIME) $(FUZZ)

bench: bench-tools ## speed and size beside rivals, as ratios (BENCH='-quick -save FILE' etc.)
	$(call proof,bench) $(BENCH)

bench-tools:
	@tools/install 'the rows beside them are' rg=ripgrep sqlite3=sqlite3 mkfs.ext4=e2fsprogs mkfs.xfs=xfsprogs mkfs.btrfs=btrfs-progs

bench-peers: peers ## jp beside Codex, opencode and Claude Code, on one model: README's table (PEERS='-rounds 9' etc.)
	$(call proof,peers) $(PEERS)

soak: ## 64 conversations at once, clients that come and go, kills, days of use; counts what is lost or left (SOAK='-quick' etc.)
	$(call proof,soak) $(SOAK)
	JP_CHAT_KILLS=20 $(GO) test ./cmd/jp -run 'TestChatRandomKills$$' -v -count=1 -timeout 1h

seeded: ## model servers that misbehave, SEEDS=100000 seeds for each protocol: none may break a promise
	GOGC=400 JP_SEEDS=$(SEEDS) $(GO) test ./internal/testing/vendortest -run 'TestSeededServers$$' -v -count=1 -timeout 2h

histories: ## turns of up to five calls, killed at every point: each sentence of the message of a resume is true; git operations: each line has its writer
	GOGC=400 JP_HISTORIES=5 $(GO) test ./turnloop -run 'TestAMessageOfAResumeIsTrueWhereItStands$$' -v -count=1 -timeout 4h
	JP_SEED=1 JP_SEEDS=30 $(GO) test ./blame -run TestRandomHistories -v -count=1 -timeout 1h

hostile: ## repositories that attack, one class after another: a table; none may come to anything (HOSTILE='-only git' etc.)
	$(call proof,hostile) $(HOSTILE)
	$(GO) test -count=1 -run 'Hostile|Escape|Filter' ./gitcmd ./worktree ./tool/... ./gitstore

programs: ## 300 random programs over random files: jp undo brings all back, or jp names what not; 12 beside opencode (make peers)
	JP_PROGRAMS=1 $(GO) test ./cmd/jp -run 'TestUndoAfterRandomPrograms$$' -count=1 -timeout 1h
	JP_PROGRAMS=1 $(GO) test ./cmd/jp -run 'TestUndoBesideOpencode$$' -v -count=1 -timeout 1h

flips: ## how many of 120 wrong conditions, picked by a seed, the tests of their own packages notice (FLIPS='-seed 7' etc.)
	$(call proof,flip) $(FLIPS)

shells: ## install zsh, fish and bash-completion (apt), in which a test then tries the completions
	@tools/install 'the completions there are' zsh=zsh fish=fish /usr/share/bash-completion/bash_completion=bash-completion

chromium: ## install the browser that the test of an exported page runs
	apt-get install -y --no-install-recommends chromium

validator: ## install a validator of HTML (npm), which a test then runs on exported pages
	cd cmd/jp/testdata/page && npm ci --no-progress --loglevel=error

inspector: ## install the MCP inspector and the reference MCP server (npm), which the tests then run against jp
	cd cmd/jp/testdata/inspector && npm ci --no-progress --loglevel=error
	cd cmd/jp/testdata/everything && npm ci --no-progress --loglevel=error

editors: ## install clients of the Agent Client Protocol and its schema (npm), which the tests then run against jp
	cd cmd/jp/testdata/editors && npm ci --no-progress --loglevel=error

peers: ## install Claude Code, the Codex CLI and opencode (npm), which the tests then let resume what jp exports
	cd export/testdata/peers && npm install --no-save --no-progress --loglevel=error

acpkill: ## kill jp acp at KILLS=100 random moments of a prompt: a table; no update may be lost, no tool may run twice
	JP_ACP_KILLS=$(KILLS) $(GO) test ./cmd/jp -run 'TestACPKill$$' -v -count=1 -timeout 1h

recordkill: ## kill jp record, its agent or a hook at KILLS=100 random moments: readable, each word once, no tree of another call
	JP_RECORD_KILLS=$(KILLS) $(GO) test ./cmd/jp -run 'TestRecordKill$$' -v -count=1 -timeout 1h

models: ## renew the table of models and prices from charm.land/catwalk
	cd tools && $(GO) run ./models

screens: ## draw the pictures in docs/screens (FONT=… BOLD=…: a TrueType font of one width)
	cd tools && $(GO) run ./screens $(if $(FONT),-font $(FONT)) $(if $(BOLD),-bold $(BOLD)) ../docs/screens ../cmd/jp/testdata/screens/*-80x24-dark.ansi ../cmd/jp/testdata/screens/*-80x24-light.ansi

demo: build ## a scripted turn with real tools in a scratch repository
	@$(BIN) chat --demo

release: ## build archives, packages and a formula into dist/ (VERSION=0.2.0 SYSTEMS='linux/amd64 darwin/arm64' URL=...)
	tools/release/build

install: build ## install jp into GOBIN, and say where that is
	@bin=$$($(GO) env GOBIN); bin=$${bin:-$$($(GO) env GOPATH | cut -d: -f1)/bin}; mkdir -p "$$bin" && install -m 755 $(BIN) "$$bin/jp" && echo "Installed $$bin/jp." || exit 1; \
	case ":$$PATH:" in *":$$bin:"*) ;; *) echo "$$bin is not on PATH. Add it: export PATH=\"$$bin:\$$PATH\"" ;; esac
