/** Pages of an LMDB file that hold nothing: those that no table, no list and no meta page takes. */

interface Pages {
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

/** What LMDB tells about a table; of the root also about the list of free pages. */
interface Counted {
  getStats(): object;
}

const META_PAGES = 2;

export function freePagesOf(fileBytes: number, root: Counted, tables: readonly Counted[]): number {
  const { free, pageSize } = root.getStats() as Pages & { free: Pages; pageSize: number };
  const counted = [root, ...tables].map((table) => table.getStats() as Pages);
  const used = [free, ...counted].reduce((sum, pages) => sum + pagesOf(pages), META_PAGES);
  return Math.max(0, Math.floor(fileBytes / pageSize) - used);
}

function pagesOf(pages: Pages): number {
  return pages.treeBranchPageCount + pages.treeLeafPageCount + pages.overflowPages;
}
