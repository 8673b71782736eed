import type { Fault } from '../fault.ts'
import { clock } from './clock.ts'
import { failingSync, readOnlyDisk } from './failing-disk.ts'
import { fullDisk } from './full-disk.ts'
import { kill } from './kill.ts'
import { logTail } from './log-tail.ts'
import { postgresExhausted, postgresLocks } from './postgres-busy.ts'
import { networkCut, networkDelay, networkSilence } from './postgres-network.ts'
import { postgresKill } from './postgres-program.ts'
import { postgresRestart, postgresSessions } from './postgres-server.ts'
import { rollUpKill } from './roll-up-kill.ts'
import { slowDisk } from './slow-disk.ts'
import { tornWrite } from './torn-write.ts'

export const FAULTS: readonly Fault[] = [
  kill,
  tornWrite,
  rollUpKill,
  logTail,
  fullDisk,
  readOnlyDisk,
  slowDisk,
  failingSync,
  clock,
  postgresKill,
  postgresRestart,
  postgresSessions,
  networkCut,
  networkSilence,
  networkDelay,
  postgresLocks,
  postgresExhausted,
]
