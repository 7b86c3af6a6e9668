package hooks_test

import (
	"context"
	"fmt"

	"jp/hooks"
)

func Example() {
	engine := hooks.New(map[hooks.Point][]string{
		hooks.ToolPre: {"sh", "-c", `! grep -q '"git","push"' || { echo not from here >&2; exit 2; }`},
	}, hooks.Options{})
	for _, argv := range []string{`["git","status"]`, `["git","push"]`} {
		decision, _, err := engine.Run(context.Background(), hooks.Input{
			Point: hooks.ToolPre,
			Tool:  &hooks.Tool{Name: "shell_run", Arguments: []byte(`{"argv":` + argv + `}`)},
		})
		fmt.Println(argv, decision.Denied, decision.Reason, err)
	}
	// Output:
	// ["git","status"] false  <nil>
	// ["git","push"] true not from here <nil>
}
