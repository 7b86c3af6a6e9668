# The formula of a Homebrew tap; tools/release/build fills in what stands between two @.
class Jp < Formula
  desc "Command-line LLM agent whose conversations live in git"
  homepage "@URL@"
  version "@VERSION@"
  license "MIT"
  depends_on "git"

  on_macos do
    on_arm do
      url "@URL@/jp_@VERSION@_darwin_arm64.tar.gz"
      sha256 "@DARWIN_ARM64@"
    end
    on_intel do
      url "@URL@/jp_@VERSION@_darwin_amd64.tar.gz"
      sha256 "@DARWIN_AMD64@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/jp_@VERSION@_linux_arm64.tar.gz"
      sha256 "@LINUX_ARM64@"
    end
    on_intel do
      url "@URL@/jp_@VERSION@_linux_amd64.tar.gz"
      sha256 "@LINUX_AMD64@"
    end
  end

  def install
    bin.install "jp"
    man1.install Dir["man/*.1.gz"]
    bash_completion.install "completions/jp.bash" => "jp"
    zsh_completion.install "completions/jp.zsh" => "_jp"
    fish_completion.install "completions/jp.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/jp version")
  end
end
