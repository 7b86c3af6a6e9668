// Package redact finds secrets in text, replaces them by placeholders, and puts
// them back where a program needs them.
//
// A placeholder, such as [secret:github-pat:1a2b3c4d5e6f], names the rule that
// found the secret and carries a code of its value under a key of this user's:
// the same value has the same code in every text and process, and no reader without
// the key can try values against it. Placeholders are never taken for secrets,
// so redacting a text twice is redacting it once.
//
// The rules are those of gitleaks, and a few of our own for what engineers meet
// and gitleaks does not know. A text is read once for the rules' keywords, and
// their expressions only look around those.
//
// The package decides nothing about where text comes from or goes to. It does
// not promise to find every secret: a password that looks like a word is none to it.
package redact

//go:generate sh -c "cd ../tools/gitleaks && go run . ../../redact/gitleaks.go"
