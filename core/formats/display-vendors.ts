/** Why a machine has no cards for jobs, where the tool for them is not installed: what its bus tells of who made what there is. */

const nvidia = '0x10de';
const amd = '0x1002';

/** `vendors`: of each device of the bus that displays or computes, as the system writes them; several may be alike. */
export function noCardsNote(vendors: readonly string[]): string {
  const said = 'nvidia-smi is not installed';
  if (vendors.includes(nvidia))
    return `${said}, and there is an NVIDIA card: install its driver, which brings the program`;
  if (vendors.includes(amd))
    return `${said}; there are AMD graphics, but jobs can be given NVIDIA cards only`;
  return said;
}

/** Of devices that display (class 03) and those that only compute (12). */
export function displays(classCode: string): boolean {
  return /^0x(03|12)/.test(classCode);
}
