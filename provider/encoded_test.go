package provider_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"jp/provider"
)

type item struct {
	Text string          `json:"text"`
	Raw  json.RawMessage `json:"raw,omitempty"`
	More *item           `json:"more,omitempty"`
}

// counting encodes items, and counts how many.
func counting(n *int, extra string) provider.Encoding[item] {
	return provider.Encoding[item]{
		Stub: item{Text: "stub 9f2c"},
		One: func(i item) ([]byte, error) {
			*n++
			return json.Marshal(i)
		},
		Whole: func(items []item) ([]byte, error) {
			return json.Marshal(map[string]any{"a": extra, "items": items, "z": 1})
		},
	}
}

func TestBody(t *testing.T) {
	var lists provider.EncodedLists[item]
	one, two, three := item{Text: "<one>"}, item{Text: "two", More: &item{Text: "more"}}, item{Raw: json.RawMessage(`{"b": [1]}`)}
	for name, c := range map[string]struct {
		items []item
		extra string
	}{
		"none":     {nil, ""},
		"one":      {[]item{one}, ""},
		"several":  {[]item{one, two, three}, ""},
		"changed":  {[]item{one, {Text: "other"}, three}, "stub"},
		"shorter":  {[]item{one}, ""},
		"the stub": {[]item{{Text: "stub 9f2c"}, one}, `{"text":"stub 9f2c"}`},
	} {
		n := 0
		e := counting(&n, c.extra)
		want, err := e.Whole(c.items)
		require.NoError(t, err, name)
		for range 2 {
			got, err := lists.Body(c.items, e)
			require.NoError(t, err, name)
			require.Equal(t, string(want), string(got.Bytes()), name)
			require.Equal(t, len(want), got.Len(), name)
			require.NoError(t, iotest.TestReader(got.Reader(), want), name)
			r := httptest.NewRequest("POST", "/", nil)
			got.SetOf(r)
			require.Equal(t, int64(len(want)), r.ContentLength, name)
			for range 2 { // an HTTP client sends it again on another connection
				sent, err := io.ReadAll(r.Body)
				require.NoError(t, err, name)
				require.Equal(t, string(want), string(sent), name)
				r.Body, err = r.GetBody()
				require.NoError(t, err, name)
			}
		}
	}
}

func TestOnlyNewItemsAreEncoded(t *testing.T) {
	var lists provider.EncodedLists[item]
	n := 0
	body := func(texts ...string) int {
		n = 0
		var items []item
		for _, text := range texts {
			items = append(items, item{Text: text, More: &item{Text: text}})
		}
		_, err := lists.Body(items, counting(&n, ""))
		require.NoError(t, err)
		return n - 1 // without the stub
	}
	require.Equal(t, 2, body("a", "b"))
	require.Equal(t, 1, body("a", "b", "c"))
	require.Equal(t, 1, body("another"))
	require.Equal(t, 2, body("a", "b", "d", "e"))
	require.Equal(t, 0, body("another"))
	for _, text := range []string{"1", "2", "3", "4"} {
		require.Equal(t, 1, body(text))
	}
	require.Equal(t, 2, body("a", "b"), "it was forgotten")
}

func TestErrors(t *testing.T) {
	var lists provider.EncodedLists[item]
	n := 0
	e := counting(&n, "")
	e.One = func(i item) ([]byte, error) {
		if i.Text == "bad" {
			return nil, errors.New("bad")
		}
		return json.Marshal(i)
	}
	_, err := lists.Body([]item{{Text: "good"}, {Text: "bad"}}, e)
	require.EqualError(t, err, "bad")
	// A frame without the stub is encoded as a whole.
	e.Whole = func(items []item) ([]byte, error) { return json.Marshal(len(items)) }
	got, err := lists.Body([]item{{Text: "good"}, {Text: "bad"}}, e)
	require.NoError(t, err)
	require.Equal(t, "2", string(got.Bytes()))
}

func TestAtOnce(t *testing.T) {
	var lists provider.EncodedLists[item]
	var wg sync.WaitGroup
	for _, first := range []string{"a", "b", "c", "d", "e"} {
		wg.Go(func() {
			items := []item{{Text: first}}
			for range 50 {
				n := 0
				e := counting(&n, "")
				want, _ := e.Whole(items)
				got, err := lists.Body(items, e)
				if err != nil || !slices.Equal(want, got.Bytes()) {
					t.Errorf("%s: %s, %v", first, got.Bytes(), err)
				}
				items = append(slices.Clip(items), item{Text: first})
			}
		})
	}
	wg.Wait()
}
