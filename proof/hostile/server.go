package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// userPath is the path below which the user configured the servers of models; requests for all other paths
// are the attacker's.
const userPath = "/user/"

// A server stands for all of the network: for the user's providers, and for the
// attacker's machines.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	lured    []string // requests that went to the attacker
	received []string // bodies that went to the user's providers
}

func newServer() *server {
	s := &server{}
	s.Server = httptest.NewServer(s)
	return s
}

// ServeHTTP implements [http.Handler]. It offers no model.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 16<<20))
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasPrefix(r.URL.Path, userPath) {
		s.received = append(s.received, string(body))
	} else {
		text := r.Method + " " + r.URL.Path
		if carriesKey(r.Header) {
			text += " with the user's key"
		}
		s.lured = append(s.lured, text)
	}
	http.Error(w, `{"error":{"message":"no"}}`, http.StatusBadRequest)
}

func carriesKey(header http.Header) bool {
	for _, values := range header {
		for _, v := range values {
			if strings.Contains(v, userKey) {
				return true
			}
		}
	}
	return false
}

// take returns the requests since the last time.
func (s *server) take() (lured, received []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lured, received = s.lured, s.received
	s.lured, s.received = nil, nil
	return lured, received
}
