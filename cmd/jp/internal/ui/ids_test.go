package ui

import (
	"fmt"

	"jp/conversation"
)

func idOf(n int) conversation.ID { return conversation.ID(fmt.Sprintf("jp-c1795255%04d-k3f9", n)) }
