package config_test

import (
	"fmt"
	"os"
	"path/filepath"

	"jp/config"
)

// A repository without an approval may set how much a model thinks. It may neither choose the model nor name
// a command.
func Example() {
	root, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	file := filepath.Join(root, config.WorkspaceFile)
	for _, kv := range [][2]string{{"model", "anthropic/claude"}, {"parameters.reasoning", "high"}, {"tools.lint.command", `["./lint.sh"]`}} {
		draft, err := config.NewDraft(config.Origin{Name: file}, kv[0], kv[1])
		if err != nil {
			panic(err)
		}
		if err := draft.Write(); err != nil {
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
	fmt.Println(c.Parameters.Reasoning, "from", report.Origins["parameters.reasoning"])
	fmt.Println(c.Policy.Detached, "from", report.Origins["policy.detached"])
	for _, key := range report.Inert {
		fmt.Printf("%s: %s = %s has no effect: %s\n", key.Origin, key.Key, key.Value, key.Reason)
	}
	// Output:
	// high from .jp/config.toml:4
	// defer from JP_CFG_POLICY__DETACHED
	// .jp/config.toml:1: model = "anthropic/claude" has no effect: the file is not trusted
	// .jp/config.toml:7: tools.lint.command = ["./lint.sh"] has no effect: the file is not trusted
}
