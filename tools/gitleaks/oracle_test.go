package main

import (
	"os"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/cmd/generate/secrets"
	"github.com/zricethezav/gitleaks/v8/detect"

	"jp/redact"
)

// TestTable compares the table with that of the present gitleaks.
func TestTable(t *testing.T) {
	want, err := table()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../redact/gitleaks.go")
	if err != nil {
		t.Fatal(err)
	}
	// A test binary does not know the releases that it was built from.
	if strings.Replace(string(want), `"unknown"`, `"`+redact.GitleaksVersion+`"`, 1) != string(got) {
		t.Fatal("../../redact/gitleaks.go is not what the generator writes: go generate ./redact")
	}
}

// different are rules that are tighter here than there, on purpose.
var different = map[string]string{
	"generic-api-key":          "hashes and names of things are none",
	"hashicorp-tf-password":    "hashes are none",
	"jwt":                      "its first part is an object",
	"sourcegraph-access-token": "any git object id is one there",
	"kubernetes-secret-yaml":   "hashes are none",
	"private-key":              "its lines are those of a key",
}

// folds are the letters that are ASCII if case does not count.
var folds = strings.NewReplacer("ſ", "s", "\u212a", "K")

// TestOracle checks that we find all findings of gitleaks.
func TestOracle(t *testing.T) {
	detector, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	var ours redact.Scanner
	compared := 0
	for id, rule := range detector.Config.Rules {
		if rule.Regex == nil || different[id] != "" {
			continue
		}
		for range 20 {
			text := "// " + strings.Join(rule.Keywords, " ") + "\n" + secrets.NewSecret(rule.Regex.String()) + "\n"
			text = folds.Replace(strings.ToValidUTF8(text, "?"))
			for _, theirs := range detector.DetectString(text) {
				if theirs.RuleID != id || len(theirs.Secret) < 10 { // here the quotes are outside of the secret
					continue
				}
				compared++
				if !covers(ours.Scan(text), text, theirs.Secret) {
					t.Errorf("%s: %q is found in %q by gitleaks only", id, theirs.Secret, text)
				}
			}
		}
	}
	t.Logf("%d findings of gitleaks were found here", compared)
	if compared < 1000 {
		t.Errorf("only %d were compared", compared)
	}
}

// covers reports whether the findings cover all of a secret.
func covers(found []redact.Finding, text, secret string) bool {
	secret = strings.Trim(secret, "\"'`\n")
	for i := 0; ; {
		at := strings.Index(text[i:], secret)
		if at < 0 {
			return false
		}
		for _, f := range found {
			if f.Start <= i+at && f.End >= i+at+len(secret) {
				return true
			}
		}
		i += at + 1
	}
}
