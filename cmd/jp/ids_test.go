package main

import (
	"fmt"
	"time"

	"jp/conversation"
)

// Ids and a time for tests that need no more than those.
const someID = conversation.ID("jp-c17952552000-k3f9")

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func idOf(n int) conversation.ID { return conversation.ID(fmt.Sprintf("jp-c1795255%04d-k3f9", n)) }
