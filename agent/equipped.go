package agent

import (
	"jp/agent/agentsmd"
	"jp/agent/drafts"
	"jp/agent/presence"
	"jp/agent/repo"
	"jp/agent/skillset"
	"jp/agent/snapshot"
	"jp/agent/toolset"
	"jp/conversation"
	"jp/process/attach"
	"jp/tool"
	"jp/tool/delegate"
	"jp/turnloop"
)

// An equipped conversation has what its turns work with, opened once each.
type equipped struct {
	*loaded
	servers      *toolset.Servers
	delegates    delegate.Runner // of the tool delegate; nil where there is no such tool
	registry     *tool.Registry  // nil until the servers were asked for their tools
	presence     *presence.Presence
	model        string
	instructions *agentsmd.Source
	skills       *skillset.Set // nil until they were looked for
	drafts       *drafts.AnswerKeeper
	listed       *snapshot.UntrackedKeeper
	toldOutlived []conversation.ID // of whose tools the user knows
	outcome      turnloop.Outcome  // of the turn that ran last
}

// close ends what the turns worked with, of which err came.
func (e *equipped) close(err error) {
	e.servers.Close()
	e.skills.Close()
	e.front.Over()
	e.closeKeepers()
	bye := attach.Closing{Reason: "the turn has ended", Ended: true, Status: string(e.outcome.Status)}
	if err != nil {
		f := repo.ProblemOf(err)
		bye.Exit, bye.Text = f.Exit, f.Message
		bye.Reason = "the process has ended"
	}
	e.presence.Close(bye)
}

// closeKeepers ends what keeps files of a turn up to date.
func (e *equipped) closeKeepers() {
	e.drafts.Close()
	e.listed.Close()
}
