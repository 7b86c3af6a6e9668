# What happens to somebody whose program believes the file.
cp .jp/config.toml "$HOME/.config/jp/config.toml"
"$JP" query --new Hello. || :
