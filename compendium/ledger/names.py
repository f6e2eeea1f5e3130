"""Printed names: what pages call the data sets, methods, sources and rows of tables.

Files, results and anchors have identifiers; a reader sees the names here and nowhere an
identifier.
"""

DATA_SETS = {
    # Table II: gene expression
    "colon": "colon cancer",
    "leukemia_5147": "leukemia (5,147 genes)",
    "cns": "CNS tumours",
    "dlbcl": "DLBCL",
    "prostate": "prostate cancer",
    "srbct": "SRBCT",
    "lung": "lung cancer",
    "gcm": "GCM (14 tumour types)",
    # Table III: groups of the 20 Newsgroups
    "autos_motorcycles": "autos against motorcycles",
    "religion": "talk.religion against soc.religion",
    "mswindows_windowsx": "ms-windows against windows.x",
    "ibm_mac": "ibm.pc against mac hardware",
    "vehicles_sport": "vehicles against sport",
    "sci_pairs": "space, crypt against med, electronics",
    "windows_sys": "windows against hardware",
    "talk": "talk groups",
    "sci": "sci groups",
    "rec": "rec groups",
    "comp": "comp groups",
}

# Other files of these data, which no row of a table stands for.
FILES = {
    "leukemia": "leukemia (7,129 genes)",
    "lung_1543": "lung cancer, filtered",
    "gcm_1363": "GCM, filtered",
}

METHODS = {"memd": "MeMd", "svm": "linear SVM", "dme": "DME"}

# Columns of Tables II and III.
COLUMNS = {
    "memd_js": "MeMd-JS",
    "memd_j": "MeMd-J",
    "svm_linear": "linear SVM",
    "dme": "DME",
}

# Rows of Table I, in the letters of the book: n rows, d features, K classes.
ORDERS = {
    "estimation_js_n": "order of MeMd-JS's estimation in n",
    "estimation_js_d": "order of MeMd-JS's estimation in d",
    "estimation_j_n": "order of MeMd-J's estimation in n",
    "estimation_j_d": "order of MeMd-J's estimation in d",
    "ranking_j_d": "order of MeMd-J's ranking in d",
    "ranking_j_k": "order of MeMd-J's ranking in K",
    "ranking_js_d": "order of MeMd-JS's ranking over pairs in d",
    "ranking_js_k": "order of MeMd-JS's ranking over pairs in K",
    "greedy_n": "order of greedy MeMd in n",
    "greedy_d": "order of greedy MeMd in d",
    "testing_s": "order of MeMd's test in the number of chosen features",
    "testing_k": "order of MeMd's test in K",
    "dme_step_n": "order of DME's step in n",
    "dme_step_d": "order of DME's step in d",
    "dme_step_k": "order of DME's step in K",
    "svm_testing_d": "order of an SVM's test in d",
    "svm_testing_n": "order of an SVM's test in the number of support vectors",
    "estimation_j_over_js": "time of MeMd-J's estimation over MeMd-JS's",
}

TABLES = {"table1": "Table I", "table2": "Table II", "table3": "Table III"}

SOURCES = {
    "dukkipati2013": "Dukkipati et al. (2013)",
    "balsera2019": "Balsera (2019)",
    "bicego2013": "Bicego et al. (2013)",
    "pandey2013": "Pandey and Dukkipati (2013)",
}

# All of them together.
NAMES = DATA_SETS | FILES | METHODS | COLUMNS | ORDERS | TABLES | SOURCES
