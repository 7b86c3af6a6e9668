package models

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/gitstore"
	"jp/internal/safefile"
	"jp/internal/safetext"
	"jp/provider/catalog"
)

// The user's own table lies in their cache. Its first line is a code by the user's key: tools may write to caches.
const (
	tableFile = "models.json"
	mostTable = 2 * catalog.MostBytes
)

// Table is the table of models in use: the built-in one, or the user's if that is newer.
func (r Providers) Table() catalog.Table {
	text, err := r.ownTable()
	if err != nil {
		return catalog.BuiltIn()
	}
	return catalog.Newest(text)
}

func (r Providers) tablePath() string { return filepath.Join(r.repo.Paths.CacheDir, tableFile) }

func (r Providers) ownTable() (string, error) {
	file, err := os.Open(r.tablePath())
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := safefile.ReadOpened(file, mostTable)
	if err != nil {
		return "", err
	}
	code, text, _ := strings.Cut(string(data), "\n")
	if want, err := r.tableCode(text); err != nil || !hmac.Equal([]byte(code), []byte(want)) {
		return "", errors.New("it is not by this user's jp")
	}
	return text, nil
}

func (r Providers) tableCode(text string) (string, error) {
	key, err := gitstore.LoadKey(r.repo.KeyFile())
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	_, _ = io.WriteString(mac, tableFile+"\n"+text) // its writes succeed
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// tableTime is how long the server of the table may take.
const tableTime = time.Minute

// UpdateTable fetches the table of models, and keeps it as the user's own.
func (r Providers) UpdateTable(ctx context.Context, e *repo.Host) (catalog.Table, error) {
	text, host, err := fetchTable(ctx, r.repo.Config.ModelsURL, tableTime)
	if err != nil {
		return catalog.Table{}, notUpdated(ctx, err)
	}
	t, err := catalog.FromDev(text, e.Now().UTC(), host)
	if err != nil {
		return t, notUpdated(ctx, fmt.Errorf("the answer of %s is %w", host, err))
	}
	code, err := r.tableCode(t.Text())
	if err == nil {
		err = safefile.Replace(r.tablePath(), []byte(code+"\n"+t.Text()), safefile.Options{})
	}
	if err != nil {
		return t, notUpdated(ctx, err)
	}
	return r.Table(), nil
}

func notUpdated(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return problem.New(problem.ExitProvider, "provider", "jp could not update the table of models: %s. The one in use stays.", safetext.Show(err.Error()))
}

// fetchTable reads the text of an address within a time, and names its host.
func fetchTable(ctx context.Context, models string, limit time.Duration) (text []byte, host string, err error) {
	address, err := url.Parse(models)
	if err != nil || address.Host == "" {
		return nil, "", errors.New("models_url is no address")
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, "", errors.New("models_url is no address")
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	var wrapped *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, "", fmt.Errorf("%s did not answer within %s (%s)", address.Host, conversation.Ago(limit), tableHelp)
	case errors.As(err, &wrapped):
		err = fmt.Errorf("%s does not answer: %w", address.Host, wrapped.Err) // without the address, which may hold a secret
	}
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("%s answers %s", address.Host, response.Status)
	}
	text, err = io.ReadAll(io.LimitReader(response.Body, catalog.MostBytes+1))
	switch got := safetext.Bytes(int64(len(text))); {
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("%s sent only %s of the table within %s (%s)", address.Host, got, conversation.Ago(limit), tableHelp)
	case err != nil:
		err = fmt.Errorf("%s broke off after %s of the table: %w (%s)", address.Host, got, err, tableHelp)
	}
	return text, address.Host, err
}

// tableHelp is the way out if a server does not send the table.
const tableHelp = "run the command again, or set models_url to another address"
