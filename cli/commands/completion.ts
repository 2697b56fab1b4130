/**
 * `completion bash | zsh | fish`: a script that completes the commands and options of this release.
 *
 * It is made from the commands themselves, so it knows all of them; it asks no node for names.
 */

import { Command } from 'commander';
import { bashScript } from '../completion/bash.ts';
import { fishScript } from '../completion/fish.ts';
import { spotsOf } from '../completion/spot.ts';
import { zshScript } from '../completion/zsh.ts';
import type { Output } from '../render/output.ts';

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof SHELLS;

const HELP = `
Examples:
  $ escapement completion bash > ~/.local/share/bash-completion/completions/escapement
  $ escapement completion zsh > "\${fpath[1]}/_escapement"
  $ escapement completion fish > ~/.config/fish/completions/escapement.fish

Exit codes: 0 done, 64 usage.`;

/** `commands` has all of them, whole. */
export function completionCommand(
  output: Output,
  commands: () => Promise<readonly Command[]>,
): Command {
  const command = new Command('completion');
  return command
    .addArgument(
      command.createArgument('<shell>', 'whose completion it is').choices(Object.keys(SHELLS)),
    )
    .option('--json', 'print the script as a JSON string')
    .addHelpText('after', HELP)
    .action(async (shell: Shell, { json }: { readonly json?: boolean }) => {
      const script = SHELLS[shell](spotsOf(await commands()));
      output.write(json === true ? `${JSON.stringify(script)}\n` : script);
    });
}
