// Package publicnet connects to public addresses only, besides the hosts that the user allows. An address is
// checked when it is connected to, so a name that has another address by then is checked again.
package publicnet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// MostURL is the longest URL that [Parse] takes, in bytes.
const MostURL = 2000

// Parse reads a URL of http or https, and refuses one that says more than a place. It drops the
// fragment.
func Parse(text string) (*url.URL, error) {
	if len(text) > MostURL {
		return nil, fmt.Errorf("the address has %d bytes (at most %d)", len(text), MostURL)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("it is no address")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("its scheme is %q (want https or http)", u.Scheme)
	case u.Hostname() == "" || u.Opaque != "":
		return nil, errors.New("it names no host")
	case u.User != nil:
		return nil, errors.New("it has a user or a password")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// Dialer returns a dialer for a host. It connects to private addresses only if the host is one of those
// allowed, by its name as the URL has it. The error is a [*PrivateError].
func Dialer(host string, allowed []string) *net.Dialer {
	private := slices.ContainsFunc(allowed, func(name string) bool { return strings.EqualFold(name, host) })
	return &net.Dialer{Timeout: 10 * time.Second, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err == nil && (private || public(to.Addr())) {
			return nil
		}
		return &PrivateError{host, to.Addr()}
	}}
}

// A PrivateError says that a host has an address that is private.
type PrivateError struct {
	Host    string
	Address netip.Addr
}

// Error names the host and the address.
func (e *PrivateError) Error() string {
	return fmt.Sprintf("%s has the address %s, which is private (web.private lists the hosts that may have one)", e.Host, e.Address)
}

// special are ranges outside of the public internet, besides those that netip knows.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
}

// public reports whether an address is one of the public internet.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}
