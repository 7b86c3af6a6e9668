package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
)

// A table is the content of the file. [table.text] and the writer of jp itself give the same layout: a test
// of jp compares them.
type table struct {
	Date, Source string
	defaults     map[string]defaults
	providers    map[string]provider
	models       map[string]map[string]model
	odd          []string
}

type provider struct {
	API      string `json:"api"`
	Protocol string `json:"protocol"`
	Env      string `json:"env"`
}

type defaults struct {
	Large []choice `json:"large" toml:"large"`
	Small []choice `json:"small,omitempty" toml:"small"`
}

type choice struct {
	ID   string `json:"id" toml:"id"`
	Ends string `json:"ends,omitempty" toml:"ends"`
}

type model struct {
	Price  price    `json:"price,omitzero"`
	Window int      `json:"window,omitempty"`
	Output int      `json:"output,omitempty"`
	Images *bool    `json:"images,omitempty"`
	Levels []string `json:"levels,omitempty"`
}

// A price is in US dollars for a million tokens. An empty number is unknown.
type price struct {
	In    json.Number `json:"in,omitempty"`
	Out   json.Number `json:"out,omitempty"`
	Read  json.Number `json:"read,omitempty"`
	Write json.Number `json:"write,omitempty"`
}

// amount is a price as a decimal number, without the noise of binary fractions.
func amount(x float64) json.Number {
	return json.Number(strconv.FormatFloat(math.Round(x*1e6)/1e6, 'f', -1, 64))
}

func (t *table) count() int {
	n := 0
	for _, models := range t.models {
		n += len(models)
	}
	return n
}

// text is the table as JSON, with one line for each provider and for each model, so that jp finds a line without reading the others.
func (t *table) text() []byte {
	var b bytes.Buffer
	b.WriteString("{\n \"date\": " + encoded(t.Date) + ",\n \"source\": " + encoded(t.Source) + ",\n \"defaults\": ")
	writeLines(&b, " ", t.defaults, func(d defaults) { b.WriteString(encoded(d)) })
	b.WriteString(",\n \"providers\": ")
	writeLines(&b, " ", t.providers, func(p provider) { b.WriteString(encoded(p)) })
	b.WriteString(",\n \"models\": ")
	writeLines(&b, " ", t.models, func(models map[string]model) {
		writeLines(&b, "  ", models, func(m model) { b.WriteString(encoded(m)) })
	})
	b.WriteString("\n}\n")
	return b.Bytes()
}

// writeLines writes an object whose members begin at the indent.
func writeLines[T any](b *bytes.Buffer, indent string, members map[string]T, write func(T)) {
	b.WriteString("{")
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n " + indent + encoded(name) + ": ")
		write(members[name])
	}
	b.WriteString("\n" + indent + "}")
}

func encoded(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only for types without a JSON form
	}
	return string(bytes.TrimSpace(b.Bytes()))
}
