package provider

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReasonOfARefusedConnection(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+closed.Addr().String()+"/v1?key=secret", nil)
	require.NoError(t, err)
	_, err = http.DefaultClient.Do(request)
	failed := &Error{Class: ClassDisconnect, Provider: "work", Err: fmt.Errorf("read answer: %w", err)}
	require.Equal(t, "work: disconnect: nothing answers at "+closed.Addr().String(), failed.Error())
	require.ErrorIs(t, failed, syscall.ECONNREFUSED)
}

func TestReasons(t *testing.T) {
	for want, err := range map[string]error{
		"there is no host llm.work": &net.OpError{Op: "dial", Err: &net.DNSError{Name: "llm.work", Err: "no such host"}},
		"no connection to 10.0.0.1:80: network is unreachable": &net.OpError{
			Op: "dial", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 80}, Err: syscall.ENETUNREACH},
		"the connection broke":                                fmt.Errorf("read: %w", syscall.ECONNRESET),
		"the stream ended before the answer did":              fmt.Errorf("read answer: %w", io.ErrUnexpectedEOF),
		"context deadline exceeded":                           context.DeadlineExceeded,
		"x509: certificate has expired or is not yet valid: ": x509.CertificateInvalidError{Reason: x509.Expired},
		"so it is": errors.New("so it is"),
	} {
		require.Equal(t, want, reason(err))
	}
}
