package config_test

import (
	"fmt"
	"os"
	"path/filepath"

	"jp/config"
)

// A repository that nobody approved may name a model, but not a command.
func Example() {
	root, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	file := filepath.Join(root, config.WorkspaceFile)
	for _, kv := range [][2]string{{"model", "anthropic/claude"}, {"tools.lint.command", `["./lint.sh"]`}} {
		if err := config.Set(file, kv[0], kv[1]); err != nil {
			panic(err)
		}
	}

	c, report, err := config.Load(config.Options{
		Workspace: root,
		Environ:   []string{"JP_CFG_POLICY__DETACHED=defer"},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(c.Model, "from", report.Origins["model"])
	fmt.Println(c.Policy.Detached, "from", report.Origins["policy.detached"])
	for _, key := range report.Inert {
		fmt.Printf("%s: %s = %s has no effect: %s\n", key.Origin, key.Key, key.Value, key.Reason)
	}
	// Output:
	// anthropic/claude from .jp/config.toml:1
	// defer from JP_CFG_POLICY__DETACHED
	// .jp/config.toml:4: tools.lint.command = ["./lint.sh"] has no effect: the file is not trusted
}
