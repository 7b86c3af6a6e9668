package live

import (
	"context"

	"jp/process/attach"
)

// DoesNow is a process's activity, and its waiting question, nil without one. The process sends the question
// right behind hello, and the Status behind that.
func DoesNow(ctx context.Context, client *attach.Client) (status attach.Status, inquiry *attach.Inquiry, err error) {
	stop := context.AfterFunc(ctx, func() { client.Close() })
	defer stop()
	if err := client.Send(&attach.Interrupt{}); err != nil {
		return status, nil, err
	}
	for {
		m, err := client.Next()
		if err != nil {
			return status, nil, err
		}
		switch m := m.(type) {
		case *attach.Inquiry:
			inquiry = m
		case *attach.Answered:
			inquiry = nil
		case *attach.Status:
			return *m, inquiry, nil
		case *attach.Closing:
			return status, nil, nil
		}
	}
}
