package repo

import (
	"errors"
	"strings"

	"jp/agent/problem"
	"jp/config"
	"jp/provider/catalog"
)

// Found is the provider of that name, from the catalog and the configuration.
func (r *Repo) Found(name string) (catalog.Vendor, error) {
	said := r.Config.Providers[name]
	return catalog.Find(name, catalog.Settings{
		BaseURL: said.BaseURL, KeyEnv: said.APIKeyEnv, Dialect: said.Dialect, Bearer: said.Auth == "bearer",
		Connection: catalog.Connection{Headers: said.Headers, CAFile: config.FromHome(said.CAFile, ""), Proxy: said.Proxy},
	})
}

// keyVariables are the variables in which the keys of providers may be.
func (r *Repo) keyVariables() []string {
	var names []string
	for _, name := range catalog.Names(r.Config.Providers) {
		v, _ := r.Found(name) // users of the settings report a mistake
		names = append(names, v.KeyEnv...)
	}
	for _, v := range catalog.More() {
		names = append(names, v.KeyEnv...)
	}
	return names
}

// WrongSetting is the error of a command that needs an invalid setting.
func WrongSetting(mistake *config.Error) *problem.Error {
	return problem.New(problem.ExitUsage, "config", "%v.", mistake)
}

// WrongProvider is the mistake in the settings of a provider.
func (r *Repo) WrongProvider(name string, err error) *config.Error {
	key := config.DottedKey("providers", name, "dialect")
	var setting *catalog.SettingError
	if errors.As(err, &setting) {
		path := append([]string{"providers", name}, strings.SplitN(setting.Key, ".", 2)...)
		key = config.DottedKey(path...)
		return config.Mistake(r.Report.Origins[key], key, key+": "+setting.Why)
	}
	return config.Mistake(r.Report.Origins[key], key, err.Error())
}

// WrongPrice is the mistake in the price of a model.
func (r *Repo) WrongPrice(model string, err error) *config.Error {
	key := config.DottedKey("prices", model)
	return config.Mistake(r.Report.Origins[key], key, key+": "+err.Error())
}
