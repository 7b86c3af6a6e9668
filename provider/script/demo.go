package script

import (
	_ "embed"
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
	return p
}

// DemoFiles are the files of the repository in which the demo plays, by path.
func DemoFiles() map[string]string {
	return map[string]string{
		"go.mod":        demoModule,
		"README.md":     demoReadme,
		"auth/retry.go": demoRetry,
	}
}
