// Package redact finds secrets in text, replaces them by placeholders, and puts them back for programs that
// need them.
//
// A placeholder, such as [secret:github-pat:1a2b3c4d5e6f], names the rule that found the secret and carries a
// code of its value under a key of this user's: the same value has the same code in every text and process,
// and only a reader with the key can try values against it. Placeholders are never taken for secrets, so
// redacting a text twice is redacting it once.
//
// The rules are those of gitleaks, and a few of our own for engineers' secrets that gitleaks does not know. A
// text is read once for the rules' keywords, and their expressions only look around those.
//
// The package leaves the source and the use of texts to its callers. Treat detection as best effort: a
// password that looks like a word stays undetected.
package redact

//go:generate sh -c "cd ../tools/gitleaks && go run . ../../redact/gitleaks.go"
