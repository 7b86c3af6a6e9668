// Models writes the table of models that jp is built with, from the data of the Go module charm.land/catwalk.
//
// It downloads the module as go does, reads the configurations in its zip, and writes the facts that jp uses. Equal
// data gives equal bytes: the date of the table is that of the module.
//
// usage: go run ./models [-version VERSION], in tools
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const module = "charm.land/catwalk"

func main() {
	version := flag.String("version", "latest", "version of "+module)
	flag.Parse()
	if err := run(*version); err != nil {
		fmt.Fprintln(os.Stderr, "tools/models:", err)
		os.Exit(1)
	}
}

func run(version string) error {
	m, err := download(version)
	if err != nil {
		return err
	}
	t, err := build(m, filepath.Join("models", "defaults.toml"))
	if err != nil {
		return err
	}
	path := filepath.Join("..", "provider", "catalog", "models.json")
	if err := os.WriteFile(path, t.text(), 0o644); err != nil {
		return err
	}
	for _, line := range t.odd {
		fmt.Println("left out:", line)
	}
	fmt.Printf("%s: %s of %s, %d providers, %d models.\n", filepath.Clean(path), t.Source, t.Date, len(t.models), t.count())
	return nil
}

// build makes the table of a module and the file of defaults.
func build(m downloaded, defaults string) (*table, error) {
	t := &table{Date: m.Time[:len("2006-01-02")], Source: module + " " + m.Version}
	if err := t.readModule(m.Zip); err != nil {
		return nil, err
	}
	t.confirmPrices()
	t.copyMistral()
	return t, t.addDefaults(defaults)
}

// A downloaded is a module as the go command has downloaded it.
type downloaded struct{ Version, Time, Zip, Info, Error string }

// download gets the module. It may need a newer go than this one. That does no harm: this one reads none of
// its Go files, and still names them.
func download(version string) (downloaded, error) {
	var m downloaded
	cmd := exec.Command("go", "mod", "download", "-json", module+"@"+version)
	var words bytes.Buffer
	cmd.Stderr = &words
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local")
	out, _ := cmd.Output()
	if err := json.Unmarshal(out, &m); err != nil || m.Zip == "" || m.Info == "" {
		return m, fmt.Errorf("download %s@%s: %s", module, version, strings.TrimSpace(m.Error+"\n"+words.String()))
	}
	info, err := os.ReadFile(m.Info)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(info, &m); err != nil || len(m.Time) < len("2006-01-02") {
		return m, fmt.Errorf("read %s: it has no time", m.Info)
	}
	return m, nil
}
