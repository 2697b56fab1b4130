/** Sample workflow with limits of every sort, with the comments that say what they come to. */

export const SAMPLE = `
name: example-with-timeout-config
mode: mapreduce

map:
  input: "large-dataset.json"
  json_path: "$.items[*]"

  # Global agent timeout
  agent_timeout_secs: 600  # 10 minutes per agent

  # Timeout configuration
  timeout_config:
    timeout_policy: hybrid
    cleanup_grace_period_secs: 30
    timeout_action: dlq
    enable_monitoring: true

    # Per-command type timeouts
    command_timeouts:
      claude: 300     # 5 minutes for Claude commands
      shell: 60       # 1 minute for shell commands
      claude_0: 600   # 10 minutes for first Claude command specifically

  agent_template:
    - claude: "/analyze-complex-item '\${item}'"  # Uses claude_0 timeout (600s)
    - shell: "validate-results \${item.id}"       # Uses shell timeout (60s)
    - claude: "/generate-report '\${item}'"       # Uses claude timeout (300s)

reduce:
  - claude: "/summarize-results \${map.results}"
`;
