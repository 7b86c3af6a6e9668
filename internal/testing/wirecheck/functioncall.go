package wirecheck

import "strings"

// geminiNames are the API's own limits.
var geminiNames = nameRules{long: "G7", start: "G7"}

func (k *checker) functionCall(f *node) {
	if !k.want(f, object) {
		return
	}
	if f.has("id") {
		k.id(idRules{}, f.get("id"))
	}
	if args := f.get("args"); args.kind != absent { // absent means none
		k.arguments("G7", f.str("id"), args, args)
	}
}

// functionResponse checks the content of a result (G4). An empty one says so in words (P6).
func (k *checker) functionResponse(f *node) {
	if !k.want(f, object) {
		return
	}
	response := f.get("response")
	switch {
	case response.kind != object:
		k.add("G4", response, "is %v, not an object", response.kind)
	case len(response.keys) != 1 || (!response.has("output") && !response.has("error")):
		k.add("G4", response, "is not one of output and error")
	default:
		k.notBlank("P6", response.items[0])
	}
	parts := f.get("parts")
	if parts.is(absent, null) || !k.want(parts, list) {
		return
	}
	if !k.Gemini.ResponseParts {
		k.add("G4", parts, "the model takes no media in a result")
	}
	for _, p := range k.objects(parts) {
		if !p.has("inlineData") && !p.has("inline_data") && !p.has("fileData") && !p.has("file_data") {
			k.add("G4", p, "a part of a result holds no media")
		}
	}
}

// functionGroups checks that each answer with calls is followed by their
// results, in order (G2), and by these only (P4).
func (k *checker) functionGroups(all []content) {
	var ids []call
	for i, c := range all {
		if c.role == "model" && len(c.calls) > 0 && i+1 < len(all) {
			k.functionGroup(c, all[i+1])
		}
		if len(c.responses) > 0 && (i == 0 || len(all[i-1].calls) == 0) {
			k.add("P4", c.node, "no call stands directly before the results")
		}
		for _, f := range c.calls {
			if f.has("id") {
				ids = append(ids, call{id: f.str("id"), at: f})
			}
		}
	}
	k.once("P4", ids)
	k.givenBack(k.body, ids)
}

func (k *checker) functionGroup(asked, got content) {
	if len(got.responses) != len(asked.calls) {
		k.add("G2", got.node, "%d calls have %d results", len(asked.calls), len(got.responses))
		return
	}
	for i, f := range asked.calls {
		r := got.responses[i]
		if r.str("name") != f.str("name") {
			k.add("G2", r, "is the result of %q, not of %q", r.str("name"), f.str("name"))
		}
		if f.str("id") != r.str("id") {
			k.add("G2", r, "has the id %q, not %q", r.str("id"), f.str("id"))
		}
	}
	other := false
	for _, p := range got.parts {
		if !p.has("functionResponse") && !p.has("function_response") {
			other = true
		} else if other {
			k.add("G2", p, "stands behind a part that is no result")
		}
	}
}

// functionNames checks the names of declared and called functions.
func (k *checker) functionNames(declared []*node, all []content) {
	var uses []*node
	for _, c := range all {
		for _, f := range c.calls {
			uses = append(uses, f.get("name"))
		}
	}
	k.names(geminiNames, declared, uses)
}

// dummySignature stands in for a missing signature.
const dummySignature = "skip_thought_signature_validator"

// signatures checks that the calls of the current turn carry the signatures that the model requires (G6), and
// that signed parts are those received (G5).
func (k *checker) signatures(all []content) {
	current := 0
	for i, c := range all {
		if c.role == "user" && len(c.responses) < len(c.parts) {
			current = i
		}
	}
	var signed []*node
	major := k.Gemini.Major
	for i, c := range all {
		for _, p := range c.parts {
			s := signature(p).text
			if s == dummySignature && major > 0 && major < 3 {
				k.add("G6", p, "the model does not know the stand-in signature")
			}
			if s != "" && s != dummySignature {
				signed = append(signed, p)
			}
		}
		if i > current && (major == 0 || major >= 3) {
			k.firstSigned(c)
		}
	}
	k.signedReceived(signed)
}

// firstSigned checks the first call of one step.
func (k *checker) firstSigned(c content) {
	for _, p := range c.parts {
		if p.get("functionCall", "function_call").kind == absent {
			continue
		}
		if strings.TrimSpace(signature(p).text) == "" {
			k.add("G6", p, "the first call of the step has no signature")
		}
		return
	}
}

// signedReceived checks that the signed parts are all those received, each as
// it was (G5).
func (k *checker) signedReceived(signed []*node) {
	if k.Received == nil {
		return
	}
	received := spellings(k.Received, func(p *node) bool {
		return signature(p).text != "" && p.get("thought").text != "true"
	})
	places := k.asReceived("G5", signed, received)
	if missing := len(received) - len(places); missing > 0 {
		k.add("G5", k.body.get("contents"), "%d signed parts are left out", missing)
	}
}
