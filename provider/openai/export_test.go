package openai

import (
	"bytes"

	"jp/provider"
	"jp/provider/encoded"
)

// Common JSON of the requests of all tests, as a provider keeps it.
var (
	sentInChat    encoded.Lists[chatMessage]
	sentResponses encoded.Lists[inputItem]
)

// ChatBody is the body of a request, without a server to read it. It is independent of earlier requests.
func ChatBody(r *provider.Request, o Options) []byte {
	whole, err := chatParams(r, o).MarshalJSON()
	return equal(whole, err, func() (encoded.Body, error) { return chatBody(chatParams(r, o), &sentInChat) })
}

// ResponsesBody is ChatBody for Responses.
func ResponsesBody(r *provider.Request, o Options) []byte {
	whole, err := responsesParams(r, o).MarshalJSON()
	return equal(whole, err, func() (encoded.Body, error) { return responsesBody(responsesParams(r, o), &sentResponses) })
}

// equal makes the body again, with the JSON of earlier requests, and with its own.
func equal(whole []byte, err error, again func() (encoded.Body, error)) []byte {
	for range 2 {
		if err != nil {
			panic(err)
		}
		var body encoded.Body
		if body, err = again(); err == nil && !bytes.Equal(whole, body.Bytes()) {
			panic("not the same:\n" + string(whole) + "\n" + string(body.Bytes()))
		}
	}
	return whole
}
