package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrices reads the four numbers of a model.
func TestPrices(t *testing.T) {
	for name, test := range map[string]struct {
		id            string
		in, out, a, b float64
		want          price
		odd           string // part of the reason that is printed
	}{
		"no caches":              {in: 1, out: 2, want: price{In: "1", Out: "2"}},
		"read behind write":      {in: 4, out: 20, a: 5, b: 0.2, want: price{In: "4", Out: "20", Read: "0.2", Write: "5"}},
		"read before write":      {in: 4, out: 20, a: 0.2, b: 5, want: price{In: "4", Out: "20", Read: "0.2", Write: "5"}},
		"read alone":             {in: 2, out: 10, b: 0.2, want: price{In: "2", Out: "10", Read: "0.2"}},
		"the same twice":         {in: 1.25, out: 10, a: 0.125, b: 0.125, want: price{In: "1.25", Out: "10", Read: "0.125"}},
		"writing at the price":   {in: 3, out: 15, a: 3, b: 0.3, want: price{In: "3", Out: "15", Read: "0.3", Write: "3"}},
		"just below":             {in: 100, out: 1, a: 98.9, want: price{In: "100", Out: "1", Read: "98.9"}},
		"just at":                {in: 100, out: 1, a: 99, want: price{In: "100", Out: "1", Write: "99"}},
		"twice the price":        {in: 1, out: 1, a: 2, want: price{In: "1", Out: "1", Write: "2"}},
		"above twice":            {in: 1, out: 10, b: 2.5, want: price{In: "1", Out: "10"}, odd: "cached 2.5 for an input of 1"},
		"two that read":          {in: 2, out: 10, a: 0.1, b: 0.2, want: price{In: "2", Out: "10"}, odd: "cached 0.1 and 0.2 for an input of 2"},
		"two that write":         {in: 2, out: 10, a: 2, b: 2.5, want: price{In: "2", Out: "10"}, odd: "cached 2 and 2.5"},
		"a negative cache":       {in: 2, out: 10, a: -1, want: price{In: "2", Out: "10"}, odd: "cached -1"},
		"nothing":                {id: "m"},
		"nothing, and free":      {id: "m:free", want: price{In: "0", Out: "0"}},
		"free in its middle":     {id: "free-m"},
		"unknown, as -1":         {in: -1, out: -1, odd: "-1 in, -1 out is no price"},
		"unknown out":            {in: 1, out: -1, odd: "is no price"},
		"huge":                   {in: 1001, out: 1, odd: "is no price"},
		"input free":             {in: 0, out: 1, want: price{In: "0", Out: "1"}},
		"input free, and caches": {in: 0, out: 1, a: 0.5, want: price{In: "0", Out: "1"}, odd: "cached 0.5 for an input of 0"},
		"binary noise":           {in: 0.1 + 0.2, out: 0.39999999999999997, want: price{In: "0.3", Out: "0.4"}},
	} {
		got, odd := priceOf(test.id, test.in, test.out, test.a, test.b)
		if got != test.want || !strings.Contains(odd, test.odd) || (odd == "") != (test.odd == "") {
			t.Errorf("%s: %+v, %q; want %+v, %q", name, got, odd, test.want, test.odd)
		}
	}
}

// testModule is a zip with configurations by name.
func testModule(t *testing.T, files map[string]string) downloaded {
	t.Helper()
	path := filepath.Join(t.TempDir(), "module.zip")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(file)
	for name, text := range files {
		w, err := z.Create("charm.land/catwalk@v1/internal/providers/configs/" + name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return downloaded{Version: "v1", Time: "2026-10-28T00:00:00Z", Zip: path}
}

func defaultsFile(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "defaults.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const oneMaker = `{"id":"openai","models":[{"id":"gpt-1.5-20260101","cost_per_1m_in":2,"cost_per_1m_out":10,"context_window":1000}]}`

// TestPricesOfOpenRouter count if another provider has the same.
func TestPricesOfOpenRouter(t *testing.T) {
	m := testModule(t, map[string]string{
		"openai.json": oneMaker,
		"xai.json":    `{"id":"xai","models":[{"id":"grok-1","cost_per_1m_in":3,"cost_per_1m_out":9,"context_window":1000}]}`,
		"vercel.json": `{"id":"vercel","models":[{"id":"mistral/m-1","cost_per_1m_in":1,"cost_per_1m_out":2,"context_window":1000}]}`,
		"openrouter.json": `{"id":"openrouter","models":[
			{"id":"openai/gpt-1.5","cost_per_1m_in":2,"cost_per_1m_out":10,"cost_per_1m_in_cached":0.2,"context_window":1000},
			{"id":"openai/gpt-1.5-batch","cost_per_1m_in":1,"cost_per_1m_out":5,"context_window":1000},
			{"id":"x-ai/grok-1","cost_per_1m_in":1.5,"cost_per_1m_out":4.5,"context_window":1000},
			{"id":"mistral/m-1","cost_per_1m_in":1,"cost_per_1m_out":2,"context_window":1000},
			{"id":"a/b:free","cost_per_1m_in":0,"cost_per_1m_out":0,"context_window":1000}]}`,
	})
	table, err := build(m, defaultsFile(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]price{
		"openai/gpt-1.5": {In: "2", Out: "10", Read: "0.2"}, "openai/gpt-1.5-batch": {}, "x-ai/grok-1": {}, "mistral/m-1": {In: "1", Out: "2"}, "a/b:free": {In: "0", Out: "0"},
	} {
		if got := table.models["openrouter"][id].Price; got != want {
			t.Errorf("%s: %+v, want %+v", id, got, want)
		}
	}
	if len(table.odd) != 2 || !strings.HasPrefix(table.odd[1], "openrouter/x-ai/grok-1: no other provider has 1.5 in") {
		t.Errorf("%q", table.odd)
	}
}

// TestWrongModules end in an error, or leave out a senseless part.
func TestWrongModules(t *testing.T) {
	for name, test := range map[string]struct {
		file, text, defaults, fails string
	}{
		"good":                 {file: "openai.json", text: oneMaker, defaults: `[openai]` + "\n" + `large = [{ id = "gpt-1.5-20260101", ends = "2026-12-01" }]`},
		"no JSON":              {file: "openai.json", text: "{", fails: "read charm.land/catwalk@v1/internal/providers/configs/openai.json"},
		"text for a number":    {file: "openai.json", text: `{"id":"openai","models":[{"id":"m","cost_per_1m_in":"2"}]}`, fails: "openai.json"},
		"another layout":       {file: "deeper/openai.json", text: oneMaker, fails: "its layout has changed"},
		"an unknown default":   {file: "openai.json", text: oneMaker, defaults: `[openai]` + "\n" + `large = [{ id = "gpt-2" }]`, fails: `openai has no model "gpt-2"`},
		"an end that is none":  {file: "openai.json", text: oneMaker, defaults: `[openai]` + "\n" + `large = [{ id = "gpt-1.5-20260101", ends = "soon" }]`, fails: "cannot parse"},
		"no default":           {file: "openai.json", text: oneMaker, defaults: `[openai]`, fails: "openai has no large model"},
		"a window below zero":  {file: "openai.json", text: `{"id":"openai","models":[{"id":"m","context_window":-1}]}`},
		"a window above bound": {file: "openai.json", text: `{"id":"openai","models":[{"id":"m","context_window":20000001}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := build(testModule(t, map[string]string{test.file: test.text}), defaultsFile(t, test.defaults))
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Fatalf("%v, want %q", err, test.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if m, there := table.models["openai"]["m"]; there && (m.Window != 0 || len(table.odd) != 1) {
				t.Errorf("%+v, %q", m, table.odd)
			}
		})
	}
}

// TestTheTableOfJP is that of its module, byte for byte. It reads the module that make models has downloaded.
func TestTheTableOfJP(t *testing.T) {
	have, err := os.ReadFile("../../provider/catalog/models.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct{ Date, Source string }
	if err := json.Unmarshal(have, &table); err != nil {
		t.Fatal(err)
	}
	version := strings.TrimPrefix(table.Source, module+" ")
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	m := downloaded{Version: version, Time: table.Date, Zip: filepath.Join(strings.TrimSpace(string(cache)), "cache/download", module, "@v", version+".zip")}
	if _, err := os.Stat(m.Zip); err != nil {
		t.Skip("make models downloads the module: ", err)
	}
	for range 2 {
		made, err := build(m, "defaults.toml")
		if err != nil {
			t.Fatal(err)
		}
		if text := made.text(); !bytes.Equal(text, have) {
			at := 0
			for at < min(len(text), len(have)) && text[at] == have[at] {
				at++
			}
			t.Fatalf("make models writes another provider/catalog/models.json, from byte %d on: %.200s", at, text[at:])
		}
	}
}
