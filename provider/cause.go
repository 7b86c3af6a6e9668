package provider

import (
	"errors"
	"io"
	"net"
	"net/url"
	"syscall"
)

// reason describes the failure of a request on its way, without the address if it may hold secrets.
func reason(err error) string {
	var unknown *net.DNSError
	var broken *net.OpError
	var request *url.Error
	switch {
	case errors.As(err, &unknown):
		return "there is no host " + unknown.Name
	case errors.As(err, &broken) && broken.Op == "dial" && errors.Is(err, syscall.ECONNREFUSED):
		return "nothing answers at " + broken.Addr.String()
	case errors.As(err, &broken) && broken.Op == "dial" && broken.Addr != nil:
		return "no connection to " + broken.Addr.String() + ": " + broken.Err.Error()
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection broke"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the stream ended before the answer did"
	case errors.As(err, &request):
		return request.Err.Error()
	}
	return err.Error()
}
