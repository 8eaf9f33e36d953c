/** One step of the schema, immutable once released. */
export interface Migration {
  /** Numbered from 1 without gaps. */
  readonly version: number;
  readonly name: string;
  /** Run in one transaction with its record in `schema_migrations`. */
  readonly sql: string;
}
