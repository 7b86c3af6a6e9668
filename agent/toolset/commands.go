package toolset

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"jp/agent/repo"
	"jp/config"
	"jp/tool"
	"jp/tool/command"
	"jp/tool/recall"
	"jp/tool/shell"
)

// Commands are the tools that the configuration makes of programs. They may not take the names of jp's own
// tools.
func Commands(r *repo.Repo, e *repo.Host, own []tool.Tool) (tools []tool.Tool, wrong []*config.Error) {
	taken := map[string]bool{recall.Group: true}
	for _, t := range own {
		taken[t.Definition().Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(r.Config.Tools)) {
		table := r.Config.Tools[name]
		if len(table.Command) == 0 {
			continue
		}
		key := config.DottedKey("tools", name)
		mistake := func(at, text string) {
			wrong = append(wrong, config.Mistake(r.Report.Origins[key+".command"], key+at, text))
		}
		if taken[name] {
			mistake(".command", name+" is a tool of jp's own; a command needs another name")
			continue
		}
		made, err := command.New(r.At.TopLevel, specOf(name, table), command.Options{
			Environ: e.Environ, Secret: keyNames(r), Timeout: ToolTime(r), Launch: SandboxOf(r, e).launcher(),
		})
		if err == nil {
			_, err = tool.NewRegistry(made)
		}
		if err == nil {
			err = made.Definition().CheckSchema()
		}
		if err != nil {
			at := ".command"
			if errors.Is(err, tool.ErrInvalidSchema) {
				at = ".parameters"
			}
			mistake(at, err.Error())
			continue
		}
		tools = append(tools, made)
	}
	return tools, wrong
}

// specOf is the tool that a table of the configuration describes.
func specOf(name string, table config.Tool) command.Spec {
	spec := command.Spec{
		Name: name, Description: table.Description, Command: table.Command, Parameters: map[string]command.Parameter{},
		Reads: table.Mutates != nil && !*table.Mutates, Idempotent: table.Idempotent, Exclusive: table.Exclusive,
		Run: tool.RunMode(table.Run), Result: tool.RunMode(table.Result), Questions: questionsOf(table), Timeout: table.Timeout,
	}
	for parameter, p := range table.Parameters {
		spec.Parameters[parameter] = command.Parameter{
			Type: p.Type, Description: p.Description, Required: p.Required, Items: p.Items, Enum: p.Enum, Default: p.Default,
		}
	}
	return spec
}

func questionsOf(table config.Tool) map[string]tool.QuestionTo {
	questions := make(map[string]tool.QuestionTo, len(table.Questions))
	for id, q := range table.Questions {
		to := tool.QuestionTo{Assistant: q.Target == "assistant", Exclusive: q.Exclusive}
		if q.Answer != nil {
			to.Answer, _ = json.Marshal(q.Answer) // the configuration takes only JSON values
		}
		questions[id] = to
	}
	return questions
}

// adjust changes a tool of jp's own by its table. Its effect and its description are fixed.
func adjust(def *tool.Definition, table config.Tool) {
	if table.Run != "" {
		def.Run = tool.RunMode(table.Run)
	}
	if table.Result != "" {
		def.Result = tool.RunMode(table.Result)
	}
	if table.Timeout > 0 && !def.Timed {
		def.Timeout = table.Timeout
	}
	def.Exclusive = def.Exclusive || table.Exclusive
	def.Idempotent = def.Idempotent || table.Idempotent
	if len(table.Questions) > 0 {
		def.Questions = maps.Clone(def.Questions)
		if def.Questions == nil {
			def.Questions = map[string]tool.QuestionTo{}
		}
		for id, to := range questionsOf(table) {
			// A person's question stays one, unless the person has set the answer.
			to.Exclusive = to.Exclusive || to.Answer == nil && def.Questions[id].Exclusive
			def.Questions[id] = to
		}
	}
}

// ToolTime is the time limit of a tool's run in the form for tools: negative for an endless one.
func ToolTime(r *repo.Repo) time.Duration {
	if r.Config.Limits.ToolTimeout == 0 {
		return -1
	}
	return r.Config.Limits.ToolTimeout
}

// shellTime is the same for the commands of shell_run.
func shellTime(r *repo.Repo) time.Duration {
	if own := r.Config.Tools[shell.Name].Timeout; own > 0 {
		return own
	}
	return ToolTime(r)
}

// keyNames are the variables with the keys of providers, which are hidden from all tools.
func keyNames(r *repo.Repo) []string {
	var names []string
	for _, p := range r.Config.Providers {
		if p.APIKeyEnv != "" {
			names = append(names, p.APIKeyEnv)
		}
	}
	return names
}
