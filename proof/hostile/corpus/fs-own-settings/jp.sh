[ ! -e sub/.git ] && [ ! -e new/.git ] && [ ! -e sub/.jp ] && [ ! -e .jp/mcp.json ]
