/** A process that runs on this database, or did until recently. */
export interface NodeTable {
  id: string
  /** For people: host name and process id. */
  name: string
  role: string
  version: string
  started_at: number
  /** Its last heartbeat. A node that has not been seen for a while is dead: its work is anybody's. */
  seen_at: number
}

/** A piece of work that one node at a time does. It is that node's for as long as the node lives. */
export interface LeaseTable {
  name: string
  node_id: string
  claimed_at: number
}

/** What is known of the time that everything goes by; one row. Times are epoch ms. */
export interface ClockCheckTable {
  id: number
  /** The newest time that was seen. */
  checked_at: number
  /** Until then things may be younger than they look, or null. */
  careful_until: number | null
  /** By how much, or null when that is unknown. */
  slack_ms: number | null
  /** What is reported about it to people, or null. */
  doubt: string | null
}

/** A stretch in which no process took events. Times are epoch ms. */
export interface OutageTable {
  began_at: number
  ended_at: number
}

/** Until when events were taken, by any process; one row. */
export interface ListeningTable {
  id: number
  listened_until: number
}

/** Requests that a node gets of a client whose rate is limited: what the limit is shared out by. */
export interface ClientDemandTable {
  client_id: string
  node_id: string
  measured_at: number
  /** Arrivals, refused ones included. */
  requests_per_second: number
}
