/**
 * Fields of an event: a form where its kind has a schema of plain fields, else JSON to write.
 */

interface FieldSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly description?: string;
}
interface ObjectSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
}

/** JSON to begin with: the fields that must be there. */
export function textOfForm(schema: unknown): string {
  const { properties = {}, required = [] } = (schema ?? {}) as ObjectSchema;
  const given = required.flatMap((name) => {
    const value = emptyOf(properties[name]);
    return name === 'type' || value === undefined ? [] : [[name, value] as const];
  });
  return JSON.stringify(Object.fromEntries(given));
}

function emptyOf(field: FieldSchema | undefined): unknown {
  if (field?.enum !== undefined) return field.enum[0];
  if (field?.type === 'string') return '';
  if (field?.type === 'number' || field?.type === 'integer') return 0;
  return field?.type === 'boolean' ? false : undefined;
}

const PLAIN = new Set(['string', 'number', 'integer', 'boolean']);

export function EventFields({
  schema,
  value,
  onChange,
}: {
  schema: unknown;
  value: string;
  onChange: (text: string) => void;
}) {
  const { properties = {}, required = [] } = (schema ?? {}) as ObjectSchema;
  const fields = Object.entries(properties).filter(([name]) => name !== 'type');
  const isPlain =
    fields.length > 0 &&
    fields.every(([, field]) => PLAIN.has(field.type ?? '') || field.enum !== undefined);
  const given = read(value);
  if (!isPlain || given === undefined)
    return (
      <label>
        Fields, as JSON
        <textarea
          name="fields"
          rows={2}
          spellcheck={false}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      </label>
    );
  const set = (name: string, text: string, field: FieldSchema): void => {
    const next = { ...given, [name]: parsed(text, field) };
    if (text === '' && !required.includes(name)) delete next[name];
    onChange(JSON.stringify(next));
  };
  return (
    <>
      {fields.map(([name, field]) => (
        <label key={name} title={field.description}>
          {name}
          {required.includes(name) ? '' : ' (may be left out)'}
          {field.enum === undefined ? (
            <input
              name={`field-${name}`}
              inputMode={field.type === 'number' || field.type === 'integer' ? 'decimal' : 'text'}
              value={String(given[name] ?? '')}
              onInput={(event) => set(name, event.currentTarget.value, field)}
            />
          ) : (
            <select
              name={`field-${name}`}
              value={String(given[name] ?? '')}
              onChange={(event) => set(name, event.currentTarget.value, field)}
            >
              {field.enum.map((each) => (
                <option key={String(each)}>{String(each)}</option>
              ))}
            </select>
          )}
        </label>
      ))}
    </>
  );
}

function read(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text || '{}') as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function parsed(text: string, { type, enum: values }: FieldSchema): unknown {
  if (values !== undefined) return values.find((each) => String(each) === text);
  if (type === 'number' || type === 'integer') return Number(text);
  return type === 'boolean' ? text === 'true' : text;
}
