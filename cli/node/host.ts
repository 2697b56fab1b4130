/** What a node needs of the process that it is: tests of the commands around it give their own. */
export type Host = Pick<NodeJS.Process, 'cwd' | 'env' | 'execArgv' | 'exit' | 'on' | 'stdout'>;
