package turnloop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	. "jp/turnloop"
)

func picture(name string) (conversation.Attachment, conversation.Payload) {
	return conversation.Attachment{Name: name, MediaType: "image/png"}, conversation.Payload{Name: name, MediaType: "image/png", Data: []byte("png")}
}

// A refused image is described instead, and the model is asked once more.
func TestARefusedImageIsWithheld(t *testing.T) {
	refused := &provider.Error{Class: provider.ClassInvalid, Status: 400, Message: "Could not process image"}
	stop := ends(conversation.FinishStop)
	a, data := picture("a.png")
	r := newRig(t, nil, reply{steps(refused), steps(hasContent("ok"), stop)}, answers("fine"), reply{steps(refused), steps(refused), steps(hasContent("ok"), stop)})
	o, err := r.request(t.Context(), Request{Chat: conversation.ChatRequest{Content: "look", Attachments: []conversation.Attachment{a}}, Attachments: []conversation.Payload{data}})
	require.NoError(t, err)
	require.Equal(t, "ok", o.Message)
	require.Equal(t, "chat_request withheld chat_response", r.turn())
	require.Len(t, r.model.requests, 2)
	require.Contains(t, r.model.sent(), `[file "a.png" (image/png, 3 bytes) is not shown: the server refused it]`)
	withheld := last[*conversation.Withholding](r)
	require.Equal(t, []string{"a.png"}, withheld.Attachments)
	require.Equal(t, "Could not process image", withheld.Reason)

	// The rest needs a reader that knows it, and this jp does.
	r.done()
	before := true
	for _, e := range r.stored() {
		before = before && e.Type() != conversation.TypeWithheld
		require.Equal(t, !before, len(e.Needs) == 1, "%d %s", e.Seq, e.Type())
		require.False(t, e.Opaque())
	}
	require.Contains(t, r.model.requests[2].Messages[0].Blocks[0].Text, "is not shown")

	// An image that the server took stays, unless it refuses again.
	r = newRig(t, nil, answers("one"), reply{steps(refused), steps(refused), steps(refused)})
	_, err = r.request(t.Context(), Request{Chat: conversation.ChatRequest{Content: "look", Attachments: []conversation.Attachment{a}}, Attachments: []conversation.Payload{data}})
	require.NoError(t, err)
	b, more := picture("b.png")
	_, err = r.request(t.Context(), Request{Chat: conversation.ChatRequest{Content: "and this", Attachments: []conversation.Attachment{b}}, Attachments: []conversation.Payload{more}})
	require.Error(t, err)
	require.Len(t, r.model.requests, 4, "without b.png, then without a.png, then no more")
	require.Equal(t, provider.BlockFile, r.model.requests[2].Messages[0].Blocks[0].Kind)
	require.Equal(t, provider.BlockText, r.model.requests[3].Messages[0].Blocks[0].Kind)

	// Other refusals leave the images in, and so does one without an image.
	for _, words := range []string{"Something is wrong", "Could not process image"} {
		r = newRig(t, nil, reply{steps(&provider.Error{Class: provider.ClassInvalid, Message: words})})
		_, err := r.start(t.Context())
		require.Error(t, err)
		require.Len(t, r.model.requests, 1)
		require.Equal(t, "chat_request turn_interrupted", r.turn())
	}
}
