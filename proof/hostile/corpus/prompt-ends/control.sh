"$JP" query --new -m "$MODEL" -y Look.
