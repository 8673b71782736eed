import pg from 'pg'

/** Every row of every table of a database as text, by table, like a dump. @param url as its owner */
export async function rowsByTable(url: string): Promise<Map<string, string[]>> {
  return withClient(url, async (client) => {
    const tables = await client.query<{ name: string }>(
      "select quote_ident(tablename) as name from pg_tables where schemaname = 'public' order by 1",
    )
    const texts = new Map<string, string[]>()
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ row: string }>(`select cast(t as text) as row from ${name} as t`)
      texts.set(
        name,
        rows.map(({ row }) => row),
      )
    }
    return texts
  })
}

/** The write-ahead log of a whole server, which also contains deleted rows. @param adminUrl as superuser */
export async function writeAheadLog(adminUrl: string): Promise<Buffer> {
  return withClient(adminUrl, async (client) => {
    // A file may be missing: a new one gets its final name only once it is filled with zeros.
    const { rows } = await client.query<{ bytes: Buffer | null }>(
      // Without the trailing zeros: most of the 32 MB is not written yet and would take a second to send.
      String.raw`select rtrim(pg_read_binary_file('pg_wal/' || name, true), '\x00') as bytes from pg_ls_waldir() order by name`,
    )
    return Buffer.concat(rows.map(({ bytes }) => bytes ?? Buffer.alloc(0)))
  })
}

async function withClient<T>(connectionString: string, read: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return await read(client)
  } finally {
    await client.end()
  }
}
