package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
)

// EndpointOf is a base URL without secrets, "" if it is invalid.
func EndpointOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}
	return shown.String()
}

// AccountOf tells keys apart without giving them away: the first eight hex digits of the SHA-256 of the key,
// "" for an empty key.
func AccountOf(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:4])
}
