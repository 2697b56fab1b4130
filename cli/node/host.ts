/** Host: the parts of its process that a node needs; tests of the commands around it give their own. */
export type Host = Pick<NodeJS.Process, 'cwd' | 'env' | 'execArgv' | 'exit' | 'on' | 'stdout'>;
