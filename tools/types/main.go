// Types checks the types of all packages and tests of jp for another system, from source: a compiler would build every
// dependency first. usage: go run ./types GOOS/GOARCH..., in tools
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	for _, system := range os.Args[1:] {
		goos, goarch, _ := strings.Cut(system, "/")
		loaded, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes |
				packages.NeedSyntax | packages.NeedTypesSizes,
			Dir: "..", Env: append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS="), Tests: true,
		}, "./...")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if packages.PrintErrors(loaded) > 0 {
			os.Exit(1)
		}
		fmt.Printf("%s: the types of %d packages and tests are right.\n", system, len(loaded))
	}
}
