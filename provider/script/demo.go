package script

import (
	_ "embed"

	"jp/provider"
)

//go:embed demo/demo.toml
var demoScript []byte

//go:embed demo/go.mod.txt
var demoModule string

//go:embed demo/README.md
var demoReadme string

//go:embed demo/retry.go.txt
var demoRetry string

// DemoRequest is the request that the demo's script answers.
const DemoRequest = "Login hangs when the server is down. Cap the retries and test it."

// Demo is the script of the demo: over the files of DemoFiles, a model caps the
// retries of a login, and tests it.
func Demo() *Provider {
	p, err := parse("script/demo", demoScript)
	if err != nil {
		panic("the embedded demo is no script: " + err.Error())
	}
	p.instead = elsewhere
	return p
}

// demoElsewhere is the demo's text if it cannot play.
const demoElsewhere = "I am jp's demo: a script, and no model. I say the same whatever you ask, and my script needs the file auth/retry.go " +
	"as `jp chat --demo` makes it. Here a call of it failed, so I change nothing. `jp chat --demo` plays all of it in a scratch repository."

// elsewhere ends the demo if a call of it has failed before its command, since in another repository than its
// own it would go on to write its files there.
func elsewhere(request *provider.Request) *reply {
	results := 0
	for _, m := range request.Messages {
		for _, b := range m.Blocks {
			if b.Kind != provider.BlockResult {
				continue
			}
			if results++; b.IsError && results < demoCalls {
				return &reply{Message: demoElsewhere}
			}
		}
	}
	return nil
}

// demoCalls is how many tools the demo calls; the last one runs its test.
const demoCalls = 4

// DemoFiles are the files of the repository in which the demo plays, by path.
func DemoFiles() map[string]string {
	return map[string]string{
		"go.mod":        demoModule,
		"README.md":     demoReadme,
		"auth/retry.go": demoRetry,
	}
}
