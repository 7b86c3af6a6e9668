package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// codeDigits is how many hex digits of a value's code stand in a placeholder.
const codeDigits = 16

const placeholderBegin = "[secret:"

// placeholder names a value.
func placeholder(rule, code string) string { return placeholderBegin + rule + ":" + code + "]" }

func placeholders(text string) []window {
	var list []window
	for at := 0; ; {
		i := strings.Index(text[at:], placeholderBegin)
		if i < 0 {
			return list
		}
		from := at + i
		at = from + len(placeholderBegin)
		if n := placeholderLength(text[from:]); n > 0 {
			list = append(list, window{from, from + n})
			at = from + n
		}
	}
}

// placeholderLength is the length of the placeholder at the beginning of a text, or 0.
func placeholderLength(text string) int {
	i := len(placeholderBegin)
	for i < len(text) && i < len(placeholderBegin)+64 && ruleByte(text[i]) {
		i++
	}
	end := i + 1 + codeDigits + 1
	if i == len(placeholderBegin) || len(text) < end || text[i] != ':' || text[end-1] != ']' {
		return 0
	}
	for _, c := range []byte(text[i+1 : end-1]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return 0
		}
	}
	return end
}

func ruleByte(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' }

func codeOf(placeholder string) string {
	return placeholder[len(placeholder)-1-codeDigits : len(placeholder)-1]
}

// RuleOf is the rule that a placeholder names.
func RuleOf(placeholder string) string {
	return placeholder[len(placeholderBegin) : len(placeholder)-2-codeDigits]
}

// deriveKey derives a key for codes from another one, without revealing it.
func deriveKey(key []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("jp placeholders of secrets"))
	return mac.Sum(nil)
}

func code(key []byte, value string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(value))
	return hex.EncodeToString(mac.Sum(nil))[:codeDigits]
}
