import { Command, Option } from 'commander'
import { timezone } from '../options.ts'
import { type BacktestOptions, backtest } from './run.ts'

const HELP = `
Judges each row as the data_volume probe would have when it came: by the same hours of the last four weeks, and until two
weeks are known by the day before. Prints one line a row:

  timestamp,value,expected,score,status

score goes from 0 to 1 and grows with how surprising the value is for this series; status is what the probe would say.
The file has a header line with the columns timestamp and value, rows in order of time at a fixed step, gaps allowed. Times
are ISO 8601 or YYYY-MM-DD HH:MM:SS; without an offset they are taken as local times of --timezone.

Examples:
  npm run tagwarden -- backtest --csv events.csv
  npm run tagwarden -- backtest --csv events.csv --direction both --timezone Europe/Berlin
  sqlite3 -header -csv counts.db "SELECT timestamp, value FROM counts" | npm run -s tagwarden -- backtest --csv -`

export function backtestCommand(): Command {
  return new Command('backtest')
    .description('replay a series of counts through the data_volume detector')
    .requiredOption('--csv <file>', 'the series, or - for standard input')
    .addOption(
      new Option('--direction <which>', 'which deviations are bad').choices(['down', 'up', 'both']).default('down'),
    )
    .option('--timezone <zone>', 'IANA zone whose days and weeks the series follows', timezone, 'UTC')
    .addHelpText('after', HELP)
    .action((options: BacktestOptions) => backtest(options))
}
