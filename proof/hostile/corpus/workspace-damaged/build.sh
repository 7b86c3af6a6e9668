mkdir .jp
printf 'model = "x"\n"\\u001b]0;owned\\u0007" = 1\n' >.jp/config.toml
printf '\033]0;owned\007 = 1\n' >"$BASE/raw.toml"
