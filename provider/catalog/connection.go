package catalog

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
)

// A Connection is how a provider is reached. The zero value is the usual way.
type Connection struct {
	Headers map[string]string // sent with every request
	CAFile  string            // certificates that are trusted besides the system's, absolute
	Proxy   string            // "": from the environment, "none": direct
}

// noProxy means that a provider is reached without a proxy.
const noProxy = "none"

// A SettingError is an invalid setting of a provider.
type SettingError struct {
	Key string // below the provider's, as in "ca_file"
	Why string // without secret values
}

// Error names the setting and the fault.
func (e *SettingError) Error() string { return e.Key + ": " + e.Why }

// Check reports an invalid setting of the connection. It reads no files.
func (c Connection) Check() error {
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		if why := headerFault(name, c.Headers[name]); why != "" {
			return &SettingError{"headers." + name, why}
		}
	}
	if c.CAFile != "" && !strings.HasPrefix(c.CAFile, "/") {
		return &SettingError{"ca_file", "must begin with / or ~/"}
	}
	if u, err := url.Parse(c.Proxy); c.Proxy != "" && c.Proxy != noProxy && (err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme)) {
		return &SettingError{"proxy", `must be an http, https or socks5 address, or "none"`}
	}
	return nil
}

// fixedHeaders are those that the protocol of the web or of the provider decides.
var fixedHeaders = []string{"Host", "Content-Length", "Content-Type", "Transfer-Encoding", "Connection", "Accept", "Accept-Encoding"}

func headerFault(name, value string) string {
	odd := func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	}
	switch {
	case name == "" || strings.ContainsFunc(name, odd):
		return "is not the name of a header"
	case slices.Contains(fixedHeaders, http.CanonicalHeaderKey(name)):
		return "jp sets this header itself"
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return "has control characters in its value"
	}
	return ""
}

// Client is a client that connects so, nil for the usual way.
func (c Connection) Client() (*http.Client, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if len(c.Headers) == 0 && c.CAFile == "" && c.Proxy == "" {
		return nil, nil
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	switch c.Proxy {
	case "":
	case noProxy:
		transport.Proxy = nil
	default:
		u, err := url.Parse(c.Proxy)
		if err != nil {
			return nil, &SettingError{"proxy", "is not a valid address"}
		}
		transport.Proxy = http.ProxyURL(u)
	}
	if c.CAFile != "" {
		pool, err := trusted(c.CAFile)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: addition{next: transport, headers: c.Headers}}, nil
}

// trusted are the system's certificates and those of a file.
func trusted(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, &SettingError{"ca_file", err.Error()}
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, &SettingError{"ca_file", fmt.Sprintf("%s has no certificate in PEM form", file)}
	}
	return pool, nil
}

// An addition adds the provider's required fields to each request.
type addition struct {
	next    http.RoundTripper // nil: the default
	headers map[string]string
	query   string // as it was configured
}

// RoundTrip implements [http.RoundTripper].
func (a addition) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range a.headers {
		r.Header.Set(name, value)
	}
	if a.query != "" {
		own, all := r.URL.Query(), []string{a.query}
		configured, _ := url.ParseQuery(a.query)
		for name := range configured {
			own.Del(name)
		}
		if len(own) > 0 {
			all = append(all, own.Encode())
		}
		r.URL.RawQuery = strings.Join(all, "&")
	}
	if a.next == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	return a.next.RoundTrip(r)
}

// withQuery is the base URL without its query, and a client that adds the query to
// each request: the clients of the protocols put a path of their own behind the URL.
func withQuery(base string, client *http.Client) (string, *http.Client) {
	u, err := url.Parse(base)
	if err != nil || u.RawQuery == "" {
		return base, client
	}
	c := *client
	c.Transport = addition{next: client.Transport, query: u.RawQuery}
	u.RawQuery = ""
	return u.String(), &c
}
