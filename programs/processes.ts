/**
 * Processes: commands in process groups of their own, with limits on what they print and an end for whole trees.
 *
 * Door of the folder. `Command` starts one, `Launcher` makes many starts cheap, `ProcessGroups` signals and ends groups and finds what left its
 * group by the mark it carries, `OutputFile` and `OutputText` keep output up to a limit.
 */

export { Command, type CommandEnd, type CommandOptions } from './processes/command.ts';
export { ProcessGroups } from './processes/groups.ts';
export { IdleNews } from './processes/idle-news.ts';
export { Launcher } from './processes/launcher.ts';
export { OutputFile, type OutputSink, OutputText, TRUNCATION_MARK } from './processes/output.ts';
