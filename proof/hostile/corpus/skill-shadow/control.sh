# A program that prefers the repository's skill, and fills in what it names.
cat .agents/skills/release/SKILL.md
"$EVIL"
